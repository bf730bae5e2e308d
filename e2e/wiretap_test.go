package e2e

import (
	"bufio"
	encoding "encoding/binary" // binary is the program under test
	"encoding/json"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
)

// wiretap is the network between controllers and a service. It knows MQTT 3.1.1 well
// enough to keep every message, and to do to those for controllers what a test wants.
type wiretap struct {
	t       *testing.T
	address string
	target  string

	mu       sync.Mutex // guards what follows
	pulled   bool
	lines    []*line             // newest last
	down     []frame             // to controllers, as the service sent them
	up       []frame             // to the service
	alter    func(frame) []frame // what becomes of a message to a controller
	mishaped []string            // what a service may never set in its messages
}

// frame is a PUBLISH packet.
type frame struct {
	topic   string
	payload []byte
	raw     []byte // with its header
}

// name is the last part of the topic.
func (f frame) name() string { return f.topic[strings.LastIndex(f.topic, "/")+1:] }

// line is one connection through a wiretap.
type line struct {
	controller, service net.Conn
	writing             sync.Mutex // guards writes to controller
}

func (l *line) write(raw []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	_, err := l.controller.Write(raw)
	return err
}

// reset ends a connection on both sides so that what is on its way dies.
func (l *line) reset() {
	for _, conn := range []net.Conn{l.controller, l.service} {
		_ = conn.(*net.TCPConn).SetLinger(0)
		conn.Close()
	}
}

func newWiretap(t *testing.T, target string) *wiretap {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wiretap{t: t, address: listener.Addr().String(), target: target}
	t.Cleanup(func() { listener.Close(); w.pull() })
	go func() {
		for {
			controller, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			go w.carry(controller)
		}
	}()
	return w
}

// carry carries one connection until either side ends it.
func (w *wiretap) carry(controller net.Conn) {
	service, err := net.Dial("tcp", w.target)
	if err != nil {
		controller.Close()
		return // as if there were no service
	}
	l := &line{controller: controller, service: service}
	defer l.reset()
	if !w.join(l) {
		return
	}
	go func() {
		defer l.reset()
		_ = packets(controller, func(f frame) error {
			w.note(&w.up, f)
			_, err := service.Write(f.raw)
			return err
		})
	}()
	_ = packets(service, func(f frame) error {
		for _, f := range w.altered(f) {
			if err := l.write(f.raw); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *wiretap) join(l *line) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.pulled {
		w.lines = append(w.lines, l)
	}
	return !w.pulled
}

// note keeps a message; other packets have no topic.
func (w *wiretap) note(where *[]frame, f frame) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f.topic != "" {
		*where = append(*where, f)
	}
}

func (w *wiretap) altered(f frame) []frame {
	w.note(&w.down, f)
	w.mu.Lock()
	defer w.mu.Unlock()
	if f.topic == "" {
		return []frame{f}
	}
	if flags := f.raw[0] & 0x0f; flags != 0 {
		w.mishaped = append(w.mishaped, f.topic)
	}
	if w.alter == nil {
		return []frame{f}
	}
	return w.alter(f)
}

// packets hands on each MQTT packet until the connection ends.
func packets(from io.Reader, each func(frame) error) error {
	in := bufio.NewReader(from)
	for {
		first, err := in.ReadByte()
		if err != nil {
			return err
		}
		length, err := encoding.ReadUvarint(in) // MQTT's variable byte integer is one
		if err != nil {
			return err
		}
		header := encoding.AppendUvarint([]byte{first}, length)
		raw := slices.Grow(header, int(length))[:len(header)+int(length)]
		if _, err := io.ReadFull(in, raw[len(header):]); err != nil {
			return err
		}
		if err := each(message(raw, raw[len(header):])); err != nil {
			return err
		}
	}
}

// message reads a packet's topic and payload, where it is a PUBLISH.
func message(raw, body []byte) frame {
	if raw[0]>>4 != 3 {
		return frame{raw: raw}
	}
	end := 2 + int(encoding.BigEndian.Uint16(body))
	f := frame{topic: string(body[2:end]), raw: raw}
	if raw[0]&0x06 != 0 {
		end += 2 // the packet's number
	}
	f.payload = body[end:]
	return f
}

// pull resets every connection and lets none through, until plug.
func (w *wiretap) pull() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pulled = true
	for _, l := range w.lines {
		l.reset()
	}
	w.lines = nil
}

func (w *wiretap) plug() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pulled = false
}

// doTo sets what becomes of messages to controllers from now on.
func (w *wiretap) doTo(alter func(frame) []frame) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.alter = alter
}

// inject sends a controller something on its present connection.
func (w *wiretap) inject(f frame) {
	w.t.Helper()
	w.mu.Lock()
	newest := w.lines[len(w.lines)-1]
	w.mu.Unlock()
	if err := newest.write(f.raw); err != nil {
		w.t.Fatal(err)
	}
}

// injectUp says something to the service on the present connection, in the
// controller's name.
func (w *wiretap) injectUp(f frame) {
	w.t.Helper()
	w.mu.Lock()
	newest := w.lines[len(w.lines)-1]
	w.mu.Unlock()
	if _, err := newest.service.Write(f.raw); err != nil {
		w.t.Fatal(err)
	}
}

func (w *wiretap) await(what string, done func() bool) {
	w.t.Helper()
	eventually(w.t, what, done)
}

// sent returns what the service has sent under a name, oldest first, and said what
// controllers have.
func (w *wiretap) sent(name string) []frame { return w.named(&w.down, name) }
func (w *wiretap) said(name string) []frame { return w.named(&w.up, name) }

func (w *wiretap) named(where *[]frame, name string) (all []frame) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range *where {
		if f.name() == name {
			all = append(all, f)
		}
	}
	return all
}

func (w *wiretap) commands() []frame { return w.sent("cmd") }

// answer is an ack message.
type answer struct {
	ID      string
	Session string
	Code    int
	Reason  string
}

// answers returns what controllers have answered to a command.
func (w *wiretap) answers(id string) (all []answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.up {
		var a answer
		if f.name() == "ack" && json.Unmarshal(f.payload, &a) == nil && a.ID == id {
			all = append(all, a)
		}
	}
	return all
}

// plain checks the header of every message that the service sent: QoS 0, never
// retained, never marked as a repetition.
func (w *wiretap) plain() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.down) == 0 || len(w.mishaped) > 0 {
		w.t.Errorf("of %d messages, these are retained, confirmed or repeated: %v", len(w.down), w.mishaped)
	}
}
