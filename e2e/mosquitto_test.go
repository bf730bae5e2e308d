package e2e

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"
)

const mosquittoPackage = "mosquitto-clients"

// stranger is Debian's MQTT client at a service's broker.
type stranger struct {
	t    *testing.T
	site *site
}

func newStranger(t *testing.T, s *site) stranger {
	t.Helper()
	needTool(t, "mosquitto_pub", mosquittoPackage)
	needTool(t, "mosquitto_sub", mosquittoPackage)
	return stranger{t, s}
}

func (s stranger) command(tool string, args ...string) *exec.Cmd {
	s.t.Helper()
	host, port, err := net.SplitHostPort(s.site.MQTT)
	if err != nil {
		s.t.Fatal(err)
	}
	return exec.CommandContext(s.t.Context(), tool, append([]string{"-h", host, "-p", port, "-d"}, args...)...)
}

// run runs a tool to its end, and returns its exit code with all it said.
func (s stranger) run(tool string, args ...string) (code int, said string) {
	s.t.Helper()
	cmd := s.command(tool, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

// as are the arguments that connect as a controller.
func as(c credentials) []string { return login(c.ID, c.ID, c.Secret) }

func login(clientID, user, password string) []string {
	return []string{"-i", clientID, "-u", user, "-P", password}
}

var versions = []string{"mqttv311", "mqttv5"}

const notAuthorised = 5 // in MQTT 3.1.1's CONNACK

// denied reports whether a code says no; from 128 on all do, in either version.
func denied(code int) bool { return code == notAuthorised || code >= 128 }

// TestRefusedMQTTClients: no identity but a controller's own gets in.
func TestRefusedMQTTClients(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	own, victim := h.addController(h.Email, "Shed"), h.addController(h.Email, "Garage")
	c, s := connect(t, h.MQTT, victim), newStranger(t, &h.site)
	publish := []string{"-q", "1", "-t", topic(own.ID, "will"), "-m", `{"v":1,"session":"0123456789abcdef"}`}
	with := func(args ...string) []string { return append(args, publish...) }
	if code, said := s.run("mosquitto_pub", with(as(own)...)...); code != 0 {
		t.Fatalf("its own credentials are refused: %d %s", code, said)
	}
	if code, said := s.run("mosquitto_pub", append(as(own), with("--will-topic", topic(own.ID, "will"), "--will-payload", "x")...)...); code != 0 {
		t.Fatalf("its own will is refused: %d %s", code, said)
	}
	will := func(topic string) []string {
		return append(as(own), with("--will-topic", topic, "--will-payload", "x")...)
	}
	rows := map[string][]string{
		"anonymous":                      with(),
		"anonymous with its client id":   with("-i", own.ID),
		"without a password":             with("-i", own.ID, "-u", own.ID),
		"with an empty password":         with(login(own.ID, own.ID, "")...),
		"with a wrong secret":            with(login(own.ID, own.ID, victim.Secret)...),
		"with a secret cut":              with(login(own.ID, own.ID, own.Secret[:len(own.Secret)-1])...),
		"with another's client id":       with(login(victim.ID, own.ID, own.Secret)...),
		"with another's user name":       with(login(own.ID, victim.ID, own.Secret)...),
		"with another's names":           with(login(victim.ID, victim.ID, own.Secret)...),
		"with a client id of its own":    with(login("shed", own.ID, own.Secret)...),
		"with its id in upper case":      with(login(strings.ToUpper(own.ID), strings.ToUpper(own.ID), own.Secret)...),
		"with a person's access token":   with(login(own.ID, own.ID, h.Token)...),
		"as a person":                    with(login(h.Email, h.Email, h.Password)...),
		"as nobody's controller":         with(login(unknownID, unknownID, own.Secret)...),
		"with a will on another's cmd":   will(topic(victim.ID, "cmd")),
		"with a will on another's state": will(topic(victim.ID, "state")),
		"with a will on another's will":  will(topic(victim.ID, "will")),
		"with a will on its own cmd":     will(topic(own.ID, "cmd")),
		"with a will on its own state":   will(topic(own.ID, "state")),
	}
	for name, args := range rows {
		for _, version := range versions {
			t.Run(name+" "+version, func(t *testing.T) {
				if code, said := s.run("mosquitto_pub", append([]string{"-V", version}, args...)...); !denied(code) {
					t.Errorf("exit code %d: %s", code, said)
				}
			})
		}
	}
	answer := h.background(t.Context(), victim.door(), "OPEN")
	c.answer(c.command(), 200)
	if got := receive(t, "the answer", answer); got.Status != http.StatusOK {
		t.Errorf("the other controller was thrown off: its door answers %d", got.Status)
	}
}

// TestASecretIsNoToken: the kinds of credentials do not stand for each other.
func TestASecretIsNoToken(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	made := h.addController(h.Email, "Garage")
	for _, token := range []string{made.Secret, h.Password, "lta_" + strings.TrimPrefix(made.Secret, "ltc_")} {
		h.toggleAs(token, made.door(), "OPEN").unauthorised(t, true)
		do(t, "GET", h.BaseURL+syncPath, token, "").unauthorised(t, true)
	}
	h.nothingRecorded()
}

// TestRefusedSubscriptions: a controller hears what is for it and nothing else.
func TestRefusedSubscriptions(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	own, victim := h.addController(h.Email, "Shed"), h.addController(h.Email, "Garage")
	s := newStranger(t, &h.site)
	if code, said := s.run("mosquitto_sub", append(as(own), "-E", "-t", topic(own.ID, "cmd"), "-t", topic(own.ID, "time"))...); code != 0 ||
		!strings.Contains(said, "Subscribed (mid: 1): 0, 0\n") {
		t.Fatalf("its own topics are refused: %d %s", code, said)
	}
	for _, filter := range []string{
		"#", "+/#", "lintel/#", "lintel/v1/#", "lintel/v1/+/cmd", "+/+/+/+", "$SYS/#", "$share/group/lintel/v1/+/cmd",
		topic(victim.ID, "cmd"), topic(victim.ID, "time"), topic(victim.ID, "#"), topic(victim.ID, "+"), topic(victim.ID, "state"),
		topic(own.ID, "#"), topic(own.ID, "+"), topic(own.ID, "state"), "$share/group/" + topic(own.ID, "cmd"),
	} {
		for _, version := range versions {
			t.Run(filter+" "+version, func(t *testing.T) {
				_, said := s.run("mosquitto_sub", append(as(own), "-E", "-V", version, "-t", filter)...)
				answer := 0
				if _, after, ok := strings.Cut(said, "Subscribed (mid: 1): "); ok {
					_, _ = fmt.Sscan(after, &answer)
				}
				if !denied(answer) {
					t.Errorf("the subscription was answered %d: %s", answer, said)
				}
			})
		}
	}
}

// TestAnEavesdropper stays connected with its wildcard subscriptions asked for,
// while another controller's door is moved.
func TestAnEavesdropper(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	own, other, victim := h.addController(h.Email, "Shed"), h.addController(h.Email, "Barn"), h.addController(h.Email, "Garage")
	c, s := connect(t, h.MQTT, victim), newStranger(t, &h.site)
	filters := []string{"#", "lintel/v1/+/cmd", topic(victim.ID, "cmd"), topic(victim.ID, "state")}

	first := dial(t, h.MQTT, own)
	for _, filter := range filters {
		first.client.Subscribe(filter, 1, nil).WaitTimeout(patience)
	}
	args := append(as(other), "-t", topic(other.ID, "cmd"))
	for _, filter := range filters {
		args = append(args, "-t", filter)
	}
	second := launch(t, s.command("mosquitto_sub", args...))
	// Its output comes late; the service tells that its subscriptions were seen.
	eventually(t, "mosquitto_sub to have subscribed", func() bool {
		log := h.stderr.String()
		return strings.Count(log, `msg="refused a topic" controller=`+other.ID) == len(filters)
	})

	for _, state := range []string{"OPEN", "CLOSED"} {
		answer := h.background(t.Context(), victim.door(), state)
		c.answer(c.command(), 200)
		receive(t, "the answer", answer)
		c.report("stopped", "inferred", "ok")
	}
	first.exchangeTime(1)
	for len(first.commands)+len(first.others) > 0 {
		select {
		case heard := <-first.commands:
			t.Errorf("another controller's command was heard: %+v", heard)
		case heard := <-first.others:
			t.Errorf("another controller's message was heard: %s", heard)
		}
	}
	if heard := second.interruptAndRead(); strings.Contains(heard, "PUBLISH") {
		t.Errorf("mosquitto_sub heard %s", heard)
	}
}
