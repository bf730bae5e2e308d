package e2e

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	paho "github.com/eclipse/paho.mqtt.golang"
)

// upstreamRatgdo is a ratgdo at the owner's broker.
const upstreamRatgdo = "home/garage/GlassDoor"

// ratgdoAt connects a ratgdo to a broker. The returned function cuts its connection, so
// that the broker publishes its will.
func ratgdoAt(t *testing.T, m *mosquitto, state string) (d *device, cut func()) {
	t.Helper()
	var mu sync.Mutex // guards conn
	var conn net.Conn
	d = plugInto(t, upstreamRatgdo, m.options("GlassDoor").SetWill(upstreamRatgdo+"/status/availability", "offline", 1, false).
		SetCustomOpenConnectionFn(func(u *url.URL, _ paho.ClientOptions) (net.Conn, error) {
			made, err := net.Dial("tcp", u.Host)
			mu.Lock()
			defer mu.Unlock()
			conn = made
			return made, err
		}))
	d.ratgdo(t, state)
	return d, func() {
		mu.Lock()
		defer mu.Unlock()
		conn.Close()
	}
}

// isQuestion reports whether a command only asks.
func isQuestion(command string) bool {
	for _, part := range []string{"/lintel/ask", "get-status", "/STATUS 10", "Input.GetStatus", "/command update"} {
		if strings.Contains(command, part) {
			return true
		}
	}
	return false
}

func movements(commands []string) string {
	var moved []string
	for _, c := range commands {
		if !isQuestion(c) {
			moved = append(moved, c)
		}
	}
	return strings.Join(moved, ", ")
}

// TestFirmwaresAtTheOwnersBroker moves the door of each firmware through a broker that
// gives Lintel what controller add prints, and no more. The broker is started last.
func TestFirmwaresAtTheOwnersBroker(t *testing.T) {
	t.Parallel()
	needTool(t, "mosquitto", "mosquitto")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	h := startHouseAt(t, l.Addr().String())
	h.awaitLog(`msg="the upstream broker cannot be used; trying again"`)

	enrolled := map[string]vendor{"ratgdo": h.addUpstream("ratgdo", "--base", upstreamRatgdo, "--travel", "2s")}
	for _, f := range firmwares() {
		enrolled[f.driver] = h.addUpstream(f.driver, append(f.args, "--travel", "1s")...)
	}
	rules := []string{"user device", "topic readwrite #", "user lintel"}
	for _, v := range enrolled {
		for _, filter := range v.Publishes {
			rules = append(rules, "topic read "+filter)
		}
		for _, filter := range v.Commands {
			rules = append(rules, "topic write "+filter)
		}
	}
	m := &mosquitto{dir: t.TempDir(), Address: l.Addr().String(), program: []string{found("mosquitto")}}
	m.prepare(t, m.listener(), "acl_file "+m.file("access", strings.Join(rules, "\n")+"\n"))
	m.run(t)
	h.awaitLog(connectedUpstream)

	d, _ := ratgdoAt(t, m, "closed")
	h.openAndClose(enrolled["ratgdo"], "closed/opener/true/CLOSED", "open/opener/true/OPEN", true)
	if got := movements(d.commands()); got != "/door open at closed, /door close at open" {
		t.Errorf("ratgdo was told %s", got)
	}
	for _, f := range firmwares() {
		t.Run(f.driver, func(t *testing.T) {
			d := plugInto(t, f.base, m.options("id-of-"+f.driver).SetWill(f.will, f.gone, 1, true))
			d.wait(d.mqtt.Subscribe(f.listen, 0, func(_ paho.Client, c paho.Message) {
				d.did(c.Topic() + " " + string(c.Payload()))
				f.told(d, c.Topic(), string(c.Payload()))
			}))
			f.ready(d)
			h.openAndClose(enrolled[f.driver], f.closed, f.open, f.closes)
			if got, want := movements(d.commands()), movements(strings.Split(f.want, ", ")); got != want {
				t.Errorf("it was told\n%s\nwant\n%s", got, want)
			}
		})
	}
	if strings.Contains(h.stderr.String(), lintelsPassword) {
		t.Error("the password is in the log")
	}
}

// openAndClose moves a door, or sees a close refused.
func (h *house) openAndClose(v vendor, closed, open string, closes bool) {
	h.t.Helper()
	h.awaitDoor(v.door(), closed)
	if r := h.toggle(v.door(), "OPEN"); r.Status != http.StatusOK {
		h.t.Fatalf("%s, open: %d %q", v.Driver, r.Status, r.Header.Get("Lintel-Reason"))
	}
	h.awaitDoor(v.door(), open)
	r := h.toggle(v.door(), "CLOSED")
	switch {
	case !closes && r.Status != http.StatusPreconditionRequired, closes && r.Status != http.StatusOK:
		h.t.Errorf("%s, close: %d %q", v.Driver, r.Status, r.Header.Get("Lintel-Reason"))
	case closes:
		h.awaitDoor(v.door(), closed)
	}
}

// ratgdoHouse is a house whose one device is a ratgdo at the owner's broker.
func ratgdoHouse(t *testing.T, lines ...string) (*mosquitto, *house, vendor) {
	t.Helper()
	m := startMosquitto(t)
	h := startHouseAt(t, m.Address, lines...)
	v := h.addUpstream("ratgdo", "--base", upstreamRatgdo, "--travel", "2s")
	h.awaitLog(connectedUpstream)
	return m, h, v
}

// TestWhatTheBrokerKeptIsNoEvidence: a device may be dead for days and its broker say
// that it is there and its door closed. The one question that it is sent moves nothing.
func TestWhatTheBrokerKeptIsNoEvidence(t *testing.T) {
	t.Parallel()
	m, h, _ := ratgdoHouse(t)
	const base = "home/other/door"
	m.publish("-r", "-t", base+"/status/availability", "-m", "online")
	m.publish("-r", "-t", base+"/status/door", "-m", "closed")
	heard := launch(t, m.tool("mosquitto_sub", "device", devicesPassword, "-t", base+"/command/#", "-F", "%r %t %p"))
	eventually(t, "mosquitto_sub to be there", func() bool { return strings.Contains(m.stderr.String(), base+"/command/# (QoS 0)") })
	v := h.addUpstream("ratgdo", "--base", base, "--travel", "2s")
	if line, err := heard.stdout.ReadString('\n'); err != nil || line != "0 "+base+"/command/query query\n" {
		t.Fatalf("it was told %q (%v)", line, err)
	}
	if r := h.toggle(v.door(), "OPEN"); r.Status != http.StatusNotFound {
		t.Errorf("a dead device's door: %d %s", r.Status, r.Body)
	}
	if got := h.listed(v.door()).String(); got != "unknown/inferred/false/OPEN" {
		t.Errorf("it is listed as %s", got)
	}
	if rest := heard.interruptAndRead(); strings.Contains(rest, "/door") {
		t.Errorf("it was told %s", rest)
	}
}

// TestADeviceThatWasThereFirst says where its door is when it is asked: what it said when
// it connected was said to others.
func TestADeviceThatWasThereFirst(t *testing.T) {
	t.Parallel()
	m := startMosquitto(t)
	plugged := map[string]*device{}
	asked := func(d *device, filter string, told func(d *device, topic, payload string)) {
		d.wait(d.mqtt.Subscribe(filter, 0, func(_ paho.Client, c paho.Message) {
			d.did(c.Topic() + " " + string(c.Payload()))
			told(d, c.Topic(), string(c.Payload()))
		}))
	}
	plugged["ratgdo"], _ = ratgdoAt(t, m, "closed")
	for _, f := range firmwares() {
		switch f.driver {
		case "opengarage", "shelly1":
			continue // the one speaks every 15 s, the other is played without its answer
		}
		d := plugInto(t, f.base, m.options("id-of-"+f.driver).SetWill(f.will, f.gone, 1, true))
		asked(d, f.listen, f.told)
		if f.driver == "esphome" {
			asked(d, "garage/lintel/ask", func(d *device, _, _ string) { f.ready(d) })
		}
		f.ready(d)
		plugged[f.driver] = d
	}
	h := startHouseAt(t, m.Address)
	v := h.addUpstream("ratgdo", "--base", upstreamRatgdo, "--travel", "2s")
	h.awaitDoor(v.door(), "closed/opener/true/CLOSED")
	for _, f := range firmwares() {
		if plugged[f.driver] != nil {
			h.awaitDoor(h.addUpstream(f.driver, f.args...).door(), f.closed)
		}
	}
	for driver, d := range plugged {
		if told := movements(d.commands()); told != "" {
			t.Errorf("%s was told %s", driver, told)
		}
	}
}

// TestADevicesWillIsItsEnd, at once, and its return the beginning of another session.
func TestADevicesWillIsItsEnd(t *testing.T) {
	t.Parallel()
	m, h, v := ratgdoHouse(t)
	_, cut := ratgdoAt(t, m, "closed")
	h.awaitDoor(v.door(), "closed/opener/true/CLOSED")
	cut()
	eventually(t, "the device to be gone", func() bool { return h.listed(v.door()).State == "OPEN" })
	if r := h.toggle(v.door(), "OPEN"); r.Status != http.StatusNotFound {
		t.Errorf("without the device: %d %s", r.Status, r.Body)
	}
	d, _ := ratgdoAt(t, m, "open")
	h.awaitDoor(v.door(), "open/opener/true/OPEN")
	if told := movements(d.commands()); told != "" {
		t.Errorf("it was told %s", told)
	}
}

// TestADeviceThatTakesNoCommands speaks and has not subscribed: the broker says so.
func TestADeviceThatTakesNoCommands(t *testing.T) {
	t.Parallel()
	m, h, v := ratgdoHouse(t)
	d := plugInto(t, upstreamRatgdo, m.options("GlassDoor"))
	eventually(t, "the door to be known", func() bool {
		d.say("/status/door", "closed") // until Lintel has subscribed
		return h.listed(v.door()).State == "CLOSED"
	})
	if r := h.toggle(v.door(), "OPEN"); r.Status != http.StatusNotFound {
		t.Errorf("got %d %s", r.Status, r.Body)
	}
}

// TestACommandDiesWithItsBroker: the broker stands still when a command comes, is killed,
// and started again with what it kept. The device is told nothing late, and Lintel comes
// back by itself.
func TestACommandDiesWithItsBroker(t *testing.T) {
	t.Parallel()
	m, h, v := ratgdoHouse(t)
	first, _ := ratgdoAt(t, m, "closed")
	h.awaitDoor(v.door(), "closed/opener/true/CLOSED")
	m.freeze()
	if r := h.toggle(v.door(), "OPEN"); r.Status != http.StatusNotFound {
		t.Errorf("got %d %s", r.Status, r.Body)
	}
	m.kill()
	if r := h.toggle(v.door(), "OPEN"); r.Status != http.StatusNotFound {
		t.Errorf("without a broker: %d %s", r.Status, r.Body)
	}
	m.run(t)
	d, _ := ratgdoAt(t, m, "closed")
	h.awaitDoor(v.door(), "closed/opener/true/CLOSED")
	if told := movements(append(first.commands(), d.commands()...)); told != "" {
		t.Errorf("the device was told %s", told)
	}
	h.openAndClose(v, "closed/opener/true/CLOSED", "open/opener/true/OPEN", true)
}

// TestAStandingBroker confirms nothing: the answer comes within the limit, and what was
// asked is not done when it goes on. Lintel comes back by itself.
func TestAStandingBroker(t *testing.T) {
	t.Parallel()
	m, h, v := ratgdoHouse(t, "deadline = '5s'")
	d, _ := ratgdoAt(t, m, "closed")
	h.awaitDoor(v.door(), "closed/opener/true/CLOSED")
	m.freeze()
	r := h.toggle(v.door(), "OPEN")
	if r.Status != http.StatusNotFound || r.Header.Get("Lintel-Reason") != "not_confirmed" {
		t.Errorf("got %d %q", r.Status, r.Header.Get("Lintel-Reason"))
	}
	m.thaw()
	h.awaitDoor(v.door(), "closed/opener/true/CLOSED")
	if told := movements(d.commands()); told != "" {
		t.Errorf("the device was told %s", told)
	}
	h.openAndClose(v, "closed/opener/true/CLOSED", "open/opener/true/OPEN", true)
}

// TestNothingIsRetainedAtTheBroker: what Lintel publishes is not marked, and the broker
// keeps none of it.
func TestNothingIsRetainedAtTheBroker(t *testing.T) {
	t.Parallel()
	m, h, v := ratgdoHouse(t)
	heard := launch(t, m.tool("mosquitto_sub", "device", devicesPassword, "-t", upstreamRatgdo+"/command/#", "--retain-as-published", "-F", "%r %q %t %p %E"))
	eventually(t, "mosquitto_sub to be there", func() bool { return strings.Contains(m.stderr.String(), upstreamRatgdo+"/command/# (QoS 0)") })
	ratgdoAt(t, m, "closed")
	h.awaitDoor(v.door(), "closed/opener/true/CLOSED")
	if r := h.toggle(v.door(), "OPEN"); r.Status != http.StatusOK {
		t.Fatalf("got %d %s", r.Status, r.Body)
	}
	moved := ""
	for !strings.Contains(moved, "/command/door open") {
		line, err := heard.stdout.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(line, "0 ") {
			t.Errorf("a message is marked as retained: %s", line)
		}
		moved = line
	}
	if fields := strings.Fields(moved); fields[len(fields)-1] != "1" {
		t.Errorf("the command expires in %s s", fields[len(fields)-1])
	}
	kept, _ := m.tool("mosquitto_sub", "device", devicesPassword, "-t", upstreamRatgdo+"/#", "--retained-only", "-W", "1", "-F", "%t").Output()
	if !strings.Contains(string(kept), "/status/door") || strings.Contains(string(kept), "/command") {
		t.Errorf("the broker has kept %s", kept)
	}
}

// TestRevokedAtTheOwnersBroker: the device is not moved any more, and may be enrolled anew.
func TestRevokedAtTheOwnersBroker(t *testing.T) {
	t.Parallel()
	m, h, v := ratgdoHouse(t)
	d, _ := ratgdoAt(t, m, "closed")
	h.awaitDoor(v.door(), "closed/opener/true/CLOSED")
	again := []string{"controller", "add", "--data", h.Data, "--user", h.Email, "--name", "again", "--driver", "ratgdo", "--base", upstreamRatgdo, "--upstream"}
	if said := refused(t, invocation{args: again}); !strings.Contains(said, v.ID) {
		t.Errorf("a second controller for one device: %q", said)
	}
	if said := refused(t, invocation{args: []string{"controller", "rotate", "--data", h.Data, v.ID}}); !strings.Contains(said, "your own broker") {
		t.Errorf("a new secret: %q", said)
	}
	lintel(t, "controller", "revoke", "--data", h.Data, v.ID)
	if r := h.toggle(v.door(), "OPEN"); r.Status == http.StatusOK {
		t.Errorf("revoked: %d %s", r.Status, r.Body)
	}
	eventually(t, "the session to end", func() bool {
		return strings.Contains(h.stderr.String(), `msg="controller disconnected" controller=`+v.ID)
	})
	said := lintel(t, again...)
	for _, want := range []string{"topic read " + upstreamRatgdo + "/status/#", "topic write " + upstreamRatgdo + "/command/#"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in %s", want, said)
		}
	}
	eventually(t, "the new controller to be there", func() bool {
		return strings.Count(h.stderr.String(), `msg="controller connected"`) == 2
	})
	if told := movements(d.commands()); told != "" {
		t.Errorf("the device was told %s", told)
	}
}

// TestAWrongPasswordAtTheBroker is said in the log, without the password, and stops nothing.
func TestAWrongPasswordAtTheBroker(t *testing.T) {
	t.Parallel()
	m := startMosquitto(t)
	const wrong = "quite-a-wrong-password"
	h := startHouse(t, "--log-level", "debug", "--config", written(t, "mqtt_upstream = 'mqtt://lintel@"+m.Address+"'\nmqtt_upstream_password = '"+wrong+"'\n"))
	h.awaitLog("the broker refuses the user name or the password")
	v := h.addUpstream("ratgdo", "--base", upstreamRatgdo)
	if r := h.toggle(v.door(), "OPEN"); r.Status != http.StatusNotFound {
		t.Errorf("got %d %s", r.Status, r.Body)
	}
	eventually(t, "several attempts", func() bool { return strings.Count(m.stderr.String(), "not authorised") > 2 })
	if count := strings.Count(h.stderr.String(), "the broker refuses"); count != 1 {
		t.Errorf("it is said %d times", count)
	}
	if strings.Contains(h.stderr.String(), wrong) {
		t.Error("the password is in the log")
	}
}

// TestTheOwnersBrokerByTLS: with the CA that is named, and not without.
func TestTheOwnersBrokerByTLS(t *testing.T) {
	t.Parallel()
	c, other := newCertificate(t), newCertificate(t)
	m := startMosquitto(t, "certfile "+c.certFile, "keyfile "+c.keyFile)
	serve := func(ca string) *house {
		return startHouse(t, "--config", written(t, "mqtt_upstream = 'tls://lintel@"+m.Address+"'\nmqtt_upstream_password = '"+lintelsPassword+"'\nmqtt_upstream_ca = '"+ca+"'\n"))
	}
	stranger := serve(other.certFile)
	stranger.awaitLog("there is no TLS with the broker")
	h := serve(c.certFile)
	h.awaitLog(connectedUpstream)
	v := h.addUpstream("ratgdo", "--base", upstreamRatgdo)
	d := plugInto(t, upstreamRatgdo, m.options("GlassDoor").AddBroker("ssl://"+m.Address).SetTLSConfig(c.transport().TLSClientConfig))
	d.ratgdo(t, "closed")
	h.openAndClose(v, "closed/opener/true/CLOSED", "open/opener/true/OPEN", true)
	if strings.Contains(stranger.stderr.String(), connectedUpstream) {
		t.Error("a certificate of nobody's was believed")
	}
}

// TestUpstreamIsNotForLintelsOwnEndpoint: what stays at the owner's broker has no login
// here, and its settings are not for another.
func TestUpstreamIsNotForLintelsOwnEndpoint(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	add := []string{"controller", "add", "--data", h.Data, "--user", h.Email, "--name", "x"}
	for _, args := range [][]string{{"--upstream"}, {"--driver", "ratgdo", "--base", "x", "--upstream", "--mqtt-host", "192.0.2.1"}} {
		if said := refused(t, invocation{args: append(append([]string{}, add...), args...)}); !strings.Contains(said, "--driver") && !strings.Contains(said, "--upstream") {
			t.Errorf("%s: %q", args, said)
		}
	}
	if said := refused(t, invocation{args: []string{"serve", "--check", "--mqtt-upstream", "tls://broker.example", "--mqtt-upstream-ca", "/no/such/file"}}); !strings.Contains(said, "--mqtt-upstream-ca") {
		t.Errorf("a CA that is not there: %q", said)
	}
}
