package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
	"golang.org/x/sys/unix"
)

// island is a network of its own with one cable to this machine's.
type island struct {
	t     *testing.T
	name  string
	here  string // this machine's address on the cable
	there string // the island's end of the cable
}

// newIsland makes a network namespace, or skips where that is not allowed. Its number
// is below 16; another run of the tests at the same time has other addresses.
func newIsland(t *testing.T, number int) *island {
	t.Helper()
	needTool(t, "ip", "iproute2")
	if os.Getuid() != 0 {
		lacking(t, "only root can make a network namespace")
	}
	pid := os.Getpid()
	name := fmt.Sprintf("lintel%d-%d", pid, number)
	i := &island{t: t, name: name, here: fmt.Sprintf("10.%d.%d.1", 200+pid%50, number*16+pid/50%16), there: fmt.Sprintf("lt%d-%d", pid%100000, number)}
	outside := "lo" + i.there[1:]
	if out, err := exec.Command("ip", "netns", "add", name).CombinedOutput(); err != nil {
		lacking(t, fmt.Sprintf("a network namespace cannot be made here: %v %s", err, out))
	}
	t.Cleanup(func() {
		_ = exec.Command("ip", "netns", "del", name).Run()
		_ = exec.Command("ip", "link", "del", outside).Run()
	})
	for _, args := range [][]string{
		{"link", "add", outside, "type", "veth", "peer", "name", i.there, "netns", name},
		{"addr", "add", i.here + "/24", "dev", outside}, {"link", "set", outside, "up"},
		{"-n", name, "addr", "add", strings.TrimSuffix(i.here, "1") + "2/24", "dev", i.there},
		{"-n", name, "link", "set", "lo", "up"}, {"-n", name, "link", "set", i.there, "up"},
	} {
		i.ip(args...)
	}
	return i
}

func (i *island) ip(args ...string) {
	i.t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		i.t.Fatalf("ip %s: %v %s", strings.Join(args, " "), err, out)
	}
}

// cut pulls the cable, and mend puts it back.
func (i *island) cut()  { i.ip("-n", i.name, "link", "set", i.there, "down") }
func (i *island) mend() { i.ip("-n", i.name, "link", "set", i.there, "up") }

// dial connects from the island. A thread goes there for it, and does not come back.
func (i *island) dial(address string) (net.Conn, error) {
	type result struct {
		conn net.Conn
		err  error
	}
	dialled := make(chan result)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		file, err := os.Open("/var/run/netns/" + i.name)
		if err == nil {
			defer file.Close()
			err = unix.Setns(int(file.Fd()), unix.CLONE_NEWNET)
		}
		if err != nil {
			dialled <- result{nil, err}
			return
		}
		conn, err := net.DialTimeout("tcp", address, patience)
		dialled <- result{conn, err}
	}()
	r := <-dialled
	return r.conn, r.err
}

// sim runs a garage's controller on the island.
func (i *island) sim(g *garage, broker string) *process {
	i.t.Helper()
	cmd := exec.Command("ip", append([]string{"netns", "exec", i.name, binary}, g.simulator(broker)...)...)
	cmd.Env = environment()
	return launch(i.t, cmd)
}

// severed is one way for a network to be cut while a command is on its way.
type severed struct {
	name   string
	away   time.Duration // for which there is no network after the caller was answered
	island *island
	door   string
	send   func() <-chan outcome // cuts the network, and asks for the door to be opened, in either order
	reason string                // that the caller is told with 404
	check  func(id string)       // long after the network was back
}

// TestACommandDiesWithTheCable cuts the network while a command is on its way: to a
// device that knows no deadlines, to a controller, and between a controller that has
// taken it and its answer. The caller is told that it did not arrive, or was not
// answered; and it never arrives, although the network comes back while the kernel
// would still deliver it: counted at the device, and at the hardware's own log. All
// cuts are in one test, so that they wait together.
func TestACommandDiesWithTheCable(t *testing.T) {
	t.Parallel()
	probe := newIsland(t, 1) // or skip before anything is started
	s := startServe(t, "--mqtt", "0.0.0.0:0", "--allow-plaintext", "--deadline", deadline.String())
	h := &house{site: s, Email: "owner@house.example"}
	h.addUser(h.Email)
	h.Token = h.createToken(h.Email, "OPENDOOR,CLOSEDOOR,READ").AccessToken
	_, port, _ := net.SplitHostPort(h.MQTT)
	var all []*severed
	for _, away := range []time.Duration{time.Second, 10 * time.Second, time.Minute} {
		for _, kind := range []func(*house, *island, string) *severed{severDevice, severBefore, severBetween} {
			i := probe
			if len(all) > 0 {
				i = newIsland(t, len(all)+1)
			}
			c := kind(h, i, net.JoinHostPort(i.here, port))
			c.away, c.island = away, i
			all = append(all, c)
		}
	}
	var answers []<-chan outcome
	for _, c := range all {
		answers = append(answers, c.send())
	}
	var ids []string
	for n, c := range all {
		got := receive(t, "the answer", answers[n])
		if got.err != nil || got.Status != http.StatusNotFound || got.Header.Get("Lintel-Reason") != c.reason {
			t.Errorf("%s, %s: the caller was told %d %q (%v)", c.name, c.away, got.Status, got.Header.Get("Lintel-Reason"), got.err)
		}
		ids = append(ids, got.commandID())
	}
	for answered, n := time.Now(), 0; n < len(all); n++ {
		<-time.After(time.Until(answered.Add(all[n].away)))
		all[n].island.mend()
	}
	// The kernel's next attempt would come within as long as the network was away.
	<-time.After(all[len(all)-1].away)
	for n, c := range all {
		failed := t.Failed()
		c.check(ids[n])
		if !failed && t.Failed() {
			t.Fatalf("that was %s, %s", c.name, c.away)
		}
	}
}

// severDevice is a vendor's device that knows no deadlines. It asks for everything
// that a broker could keep for it: a session that lasts, and QoS 1.
func severDevice(h *house, i *island, broker string) *severed {
	base := "garage/" + i.name
	v := h.addVendor("ratgdo", "--base", base)
	connect := func(state string) *device {
		d := &device{t: h.t, base: base}
		d.mqtt = paho.NewClient(paho.NewClientOptions().AddBroker("tcp://" + broker).SetClientID("door").SetUsername(v.ID).SetPassword(v.Secret).
			SetProtocolVersion(4).SetCleanSession(false).SetAutoReconnect(false).SetKeepAlive(15 * time.Second).
			SetCustomOpenConnectionFn(func(*url.URL, paho.ClientOptions) (net.Conn, error) { return i.dial(broker) }))
		d.wait(d.mqtt.Connect())
		h.t.Cleanup(func() { d.mqtt.Disconnect(0) })
		d.ratgdo(h.t, state)
		h.awaitDoor(v.door(), "closed/opener/true/CLOSED")
		return d
	}
	d := connect("closed")
	return &severed{
		name: "to a vendor's device", door: v.door(), reason: "not_confirmed",
		send: func() <-chan outcome {
			i.cut()
			return h.background(h.t.Context(), v.door(), "OPEN")
		},
		check: func(id string) {
			again := connect("closed")
			if told := append(d.commands(), again.commands()...); len(told) > 0 {
				h.t.Errorf("after the network was back, the device was told %v", told)
			}
			if kept := h.record(id); kept.Status != "refused" || kept.Code != http.StatusNotFound || kept.Reason != "not_confirmed" {
				h.t.Errorf("the history says %+v", kept)
			}
		},
	}
}

// islander is a garage whose controller is on an island.
func islander(h *house, i *island, broker string) *garage {
	g := &garage{house: h, made: h.addControllerWith(h.Email, 1), log: filepath.Join(h.t.TempDir(), "hardware.log")}
	g.file = g.made.file(h.t)
	g.fleet = i.sim(g, broker)
	g.awaitDoor(g.made.door(), closedDoor)
	return g
}

// severBefore cuts the network before the command is sent.
func severBefore(h *house, i *island, broker string) *severed {
	g := islander(h, i, broker)
	return &severed{
		name: "to a controller", door: g.made.door(), reason: "deadline",
		send: func() <-chan outcome {
			i.cut()
			return g.background(h.t.Context(), g.made.door(), "OPEN")
		},
		check: func(id string) {
			g.awaitDoor(g.made.door(), closedDoor)
			g.actuated(0, "after the network was back")
			g.recordedAs(id, "unanswered", "deadline")
			g.moves("OPEN", openDoor)
		},
	}
}

// severBetween cuts the network when the command is at the controller's machine, and
// its answer is not on its way yet.
func severBetween(h *house, i *island, broker string) *severed {
	g := islander(h, i, broker)
	var asked recorded
	return &severed{
		name: "from a controller", door: g.made.door(), reason: "deadline",
		send: func() <-chan outcome {
			answer := g.inFlight("OPEN")
			asked = g.newest()
			i.cut()
			g.thaw()
			return answer
		},
		check: func(id string) {
			g.awaitDoor(g.made.door(), openDoor)
			done := pulses(h.t, g.log)
			if len(done) != 1 || done[0].Time.After(asked.RequestedAt.Add(deadline)) {
				h.t.Errorf("asked once at %s, the hardware acted %+v", asked.RequestedAt, done)
			}
			g.recordedAs(id, "unanswered", "deadline")
			eventually(h.t, "the history to say that the door moved by the command", func() bool {
				return slices.ContainsFunc(g.events(g.made.door()), func(e change) bool { return e.CommandID == id && e.Value == "open" })
			})
			g.moves("CLOSED", closedDoor)
		},
	}
}

// TestACommandDiesWithTheCableToTheBroker cuts the network to the owner's broker while a
// command comes. It is not done when the network is back, and Lintel comes back by itself.
func TestACommandDiesWithTheCableToTheBroker(t *testing.T) {
	t.Parallel()
	needTool(t, "mosquitto", "mosquitto")
	i := newIsland(t, 14)
	address := strings.TrimSuffix(i.here, "1") + "2"
	m := &mosquitto{dir: t.TempDir(), Address: address + ":1883", program: []string{"ip", "netns", "exec", i.name, found("mosquitto")}}
	m.prepare(t, "listener 1883 "+address)
	m.run(t)
	h := startHouseAt(t, m.Address, "allow_plaintext = true")
	v := h.addUpstream("ratgdo", "--base", upstreamRatgdo)
	h.awaitLog(connectedUpstream)
	d := plugInto(t, upstreamRatgdo, m.options("GlassDoor").
		SetCustomOpenConnectionFn(func(*url.URL, paho.ClientOptions) (net.Conn, error) { return i.dial(m.Address) }))
	d.ratgdo(t, "closed")
	h.awaitDoor(v.door(), "closed/opener/true/CLOSED")

	i.cut()
	if r := h.toggle(v.door(), "OPEN"); r.Status != http.StatusNotFound {
		t.Errorf("without a network: %d %q", r.Status, r.Header.Get("Lintel-Reason"))
	}
	<-time.After(time.Second)
	i.mend()
	h.awaitDoor(v.door(), "closed/opener/true/CLOSED")
	if told := movements(d.commands()); told != "" {
		t.Errorf("after the network was back, the device was told %s", told)
	}
	h.openAndClose(v, "closed/opener/true/CLOSED", "open/opener/true/OPEN", true)
}
