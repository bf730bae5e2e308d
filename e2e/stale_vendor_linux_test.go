package e2e

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"sync"
	"syscall"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

// deaf is a device's connection that the device can stop to read.
type deaf struct {
	net.Conn

	mu   sync.Mutex // guards what follows
	free *sync.Cond
	shut bool
	end  error // of reading
}

func newDeaf(conn net.Conn) *deaf {
	d := &deaf{Conn: conn}
	d.free = sync.NewCond(&d.mu)
	return d
}

// Read waits before it reads, and again before it hands on what it has read.
func (d *deaf) Read(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.shut {
		d.free.Wait()
	}
	d.mu.Unlock()
	n, err := d.Conn.Read(b)
	d.mu.Lock()
	for d.shut {
		d.free.Wait()
	}
	if err != nil {
		d.end = err
	}
	return n, err
}

func (d *deaf) listen(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shut = !on
	d.free.Broadcast()
}

func (d *deaf) ended() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.end
}

// plugDeaf connects a ratgdo with little room for what it does not read.
func (h *house) plugDeaf(v vendor, base string) (*device, *deaf) {
	h.t.Helper()
	d := &device{t: h.t, base: base}
	var line *deaf
	d.mqtt = paho.NewClient(paho.NewClientOptions().AddBroker("tcp://" + h.MQTT).SetClientID("door").SetUsername(v.ID).SetPassword(v.Secret).
		SetProtocolVersion(4).SetAutoReconnect(false).SetKeepAlive(time.Minute).
		SetCustomOpenConnectionFn(func(*url.URL, paho.ClientOptions) (net.Conn, error) {
			conn, err := (&net.Dialer{Control: smallBuffer}).Dial("tcp", h.MQTT)
			line = newDeaf(conn)
			return line, err
		}))
	d.wait(d.mqtt.Connect())
	h.t.Cleanup(func() { line.listen(true); d.mqtt.Disconnect(0) })
	d.ratgdo(h.t, "closed")
	h.awaitDoor(v.door(), "closed/opener/true/CLOSED")
	return d, line
}

// smallBuffer leaves a connection little room for what is not read.
func smallBuffer(_, _ string, raw syscall.RawConn) (err error) {
	controlErr := raw.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 2048) })
	return errors.Join(err, controlErr)
}

// fill leaves the device's machine no room: it stops to read, and the service answers
// its pings.
func (d *deaf) fill(t *testing.T) {
	t.Helper()
	d.listen(false)
	for range 20_000 {
		if _, err := d.Write([]byte{0xc0, 0}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAnUnconfirmedCommandIsReset: a device whose machine does not take the command's
// bytes, because it has no room for more. At the deadline of their confirmation its
// connection is reset: the device reads ECONNRESET where a close would have let it read
// the command, however late.
func TestAnUnconfirmedCommandIsReset(t *testing.T) {
	t.Parallel()
	h := startHouse(t, "--deadline", deadline.String())
	v := h.addVendor("ratgdo", "--base", "garage/door")
	d, line := h.plugDeaf(v, "garage/door")
	line.fill(t)
	r := h.toggle(v.door(), "OPEN")
	if r.Status != http.StatusNotFound || r.Header.Get("Lintel-Reason") != "not_confirmed" {
		t.Errorf("the caller was told %d %q", r.Status, r.Header.Get("Lintel-Reason"))
	}
	line.listen(true)
	eventually(t, "the end of the connection", func() bool { return line.ended() != nil })
	if err := line.ended(); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the device read %v, not that its connection was reset", err)
	}
	if told := d.commands(); len(told) > 0 {
		t.Errorf("the device was told %v", told)
	}
	if kept := h.record(r.commandID()); kept.Status != "refused" || kept.Code != http.StatusNotFound || kept.Reason != "not_confirmed" {
		t.Errorf("the history says %+v", kept)
	}
}

// TestNothingIsKeptForADevice that asks for everything a broker could keep: a session
// that lasts, and QoS 1. What it is asked to do while it is away it never hears of,
// neither from the same service nor after a restart, and no message that it does get
// is retained, confirmed or repeated.
func TestNothingIsKeptForADevice(t *testing.T) {
	t.Parallel()
	h := startHouse(t, "--mqtt", ownAddress(), "--deadline", deadline.String())
	const base = "garage/door"
	v := h.addVendor("ratgdo", "--base", base)
	w := newWiretap(t, h.MQTT)
	connect := func() *device {
		d := &device{t: t, base: base}
		d.mqtt = paho.NewClient(paho.NewClientOptions().AddBroker("tcp://" + w.address).SetClientID("door").SetUsername(v.ID).
			SetPassword(v.Secret).SetProtocolVersion(4).SetCleanSession(false).SetAutoReconnect(false))
		d.wait(d.mqtt.Connect())
		d.ratgdo(t, "closed")
		d.wait(d.mqtt.Subscribe(base+"/command/#", 1, nil))
		h.awaitDoor(v.door(), "closed/opener/true/CLOSED")
		return d
	}
	first := connect()
	w.pull()
	eventually(t, "the device to be away", func() bool { return h.listed(v.door()).String() != "closed/opener/true/CLOSED" })
	r := h.toggle(v.door(), "OPEN")
	if r.Status != http.StatusNotFound || r.Header.Get("Lintel-Reason") != "offline" {
		t.Errorf("the caller was told %d %q", r.Status, r.Header.Get("Lintel-Reason"))
	}
	w.plug()
	second := connect()
	w.pull()
	h.kill()
	token := h.Token
	h.site = startServeIn(t, h.Data, "--mqtt", h.MQTT, "--deadline", deadline.String())
	h.Token = token
	w.plug()
	third := connect()
	for _, d := range []*device{first, second, third} {
		if told := d.commands(); len(told) > 0 {
			t.Errorf("the device was told %v", told)
		}
	}
	if r := h.toggle(v.door(), "OPEN"); r.Status != http.StatusOK {
		t.Errorf("at the end: got %d %q", r.Status, r.Header.Get("Lintel-Reason"))
	}
	h.awaitDoor(v.door(), "open/opener/true/OPEN")
	if told := third.commands(); len(told) != 1 {
		t.Errorf("the device was told %v, which was asked for once", told)
	}
	third.mqtt.Disconnect(0)
	w.plain()
	if kept := h.record(r.commandID()); kept.Status != "unreachable" || kept.Reason != "offline" {
		t.Errorf("the history says %+v", kept)
	}
}

// TestARestartBeforeADeviceConfirms: the service is killed while a command waits for the
// room that the device's machine does not have. The end of the process is a reset, too,
// and the next one does not know of the command but as of one without an outcome.
func TestARestartBeforeADeviceConfirms(t *testing.T) {
	t.Parallel()
	h := startHouse(t, "--mqtt", ownAddress(), "--deadline", deadline.String())
	v := h.addVendor("ratgdo", "--base", "garage/door")
	d, line := h.plugDeaf(v, "garage/door")
	line.fill(t)
	answer := h.background(t.Context(), v.door(), "OPEN")
	h.awaitCommands(1)
	h.kill()
	if got := receive(t, "the caller's end", answer); got.err == nil && got.Status != http.StatusNotFound { // by a slow test
		t.Errorf("the caller was told %d", got.Status)
	}
	startServeIn(t, h.Data, "--mqtt", h.MQTT)
	line.listen(true)
	eventually(t, "the end of the connection", func() bool { return line.ended() != nil })
	if told := d.commands(); len(told) > 0 {
		t.Errorf("the device was told %v", told)
	}
	if kept := h.history()[0]; kept.Status == "taken" || kept.SettledAt == nil {
		t.Errorf("the history says %+v", kept)
	}
}
