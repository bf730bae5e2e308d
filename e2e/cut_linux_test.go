package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"runtime"
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

// newIsland makes a network namespace, or skips where that is not allowed.
func newIsland(t *testing.T, number int) *island {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can make a network namespace")
	}
	name := fmt.Sprintf("lintel%d-%d", os.Getpid(), number)
	i := &island{t: t, name: name, here: fmt.Sprintf("10.213.%d.1", number), there: fmt.Sprintf("lt%d-%d", os.Getpid()%100000, number)}
	outside := "lo" + i.there[1:]
	if out, err := exec.Command("ip", "netns", "add", name).CombinedOutput(); err != nil {
		t.Skipf("a network namespace cannot be made here: %v %s", err, out)
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

// TestACommandDiesWithTheCable cuts the network while a command is on its way to a
// device that knows no deadlines. The caller is told that it did not arrive, and it
// never does, although the network comes back while the kernel would still deliver
// it: counted at the device.
func TestACommandDiesWithTheCable(t *testing.T) {
	t.Parallel()
	for number, away := range []time.Duration{time.Second, 10 * time.Second} {
		t.Run(away.String(), func(t *testing.T) {
			t.Parallel()
			i := newIsland(t, number+1)
			s := startServe(t, "--mqtt", i.here+":0", "--allow-plaintext")
			h := &house{site: s, Email: "owner@house.example"}
			h.addUser(h.Email)
			h.Token = h.createToken(h.Email, "OPENDOOR,CLOSEDOOR,READ").AccessToken
			const base = "garage/door"
			v := h.addVendor("ratgdo", "--base", base)
			d := &device{t: t, base: base}
			d.mqtt = paho.NewClient(paho.NewClientOptions().AddBroker("tcp://" + h.MQTT).SetClientID("door").SetUsername(v.ID).SetPassword(v.Secret).
				SetProtocolVersion(4).SetAutoReconnect(false).SetKeepAlive(15 * time.Second).
				SetCustomOpenConnectionFn(func(*url.URL, paho.ClientOptions) (net.Conn, error) { return i.dial(h.MQTT) }))
			d.wait(d.mqtt.Connect())
			t.Cleanup(func() { d.mqtt.Disconnect(0) })
			d.ratgdo(t, "closed")
			h.awaitDoor(v.door(), "closed/opener/true/CLOSED")

			i.cut()
			r := h.toggle(v.door(), "OPEN")
			if r.Status != http.StatusNotFound {
				t.Errorf("without a network: %d %q", r.Status, r.Header.Get("Lintel-Reason"))
			}
			<-time.After(away)
			i.mend()
			// The kernel's next attempts would come within this time.
			<-time.After(2 * away)
			if told := d.commands(); len(told) > 0 {
				t.Errorf("after the network was back, the device was told %v", told)
			}
			if kept := h.record(r.commandID()); kept.Code == http.StatusOK {
				t.Errorf("the history says %+v", kept)
			}
		})
	}
}

// TestACommandDiesWithTheCableToTheBroker cuts the network to the owner's broker while a
// command comes. It is not done when the network is back, and Lintel comes back by itself.
func TestACommandDiesWithTheCableToTheBroker(t *testing.T) {
	t.Parallel()
	needTool(t, "mosquitto", "mosquitto")
	i := newIsland(t, 3)
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
