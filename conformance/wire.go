package conformance

import (
	"bytes"
	"crypto/tls"
	"net"
	"sync"

	"github.com/mochi-mqtt/server/v2/packets"

	"lintel/broker"
)

// tap is a listener that notes what goes over its connections.
type tap struct {
	net.Listener
	kit *kit
}

// Accept implements net.Listener.
func (t *tap) Accept() (net.Conn, error) {
	conn, err := t.Listener.Accept()
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: conn, kit: t.kit}
	t.kit.opened(w)
	return w, nil
}

// wire is one connection. What comes in is read by one goroutine, which is also
// the one that writes SUBACK.
type wire struct {
	net.Conn
	kit  *kit
	once sync.Once
	link *broker.Connection // guarded by kit.mu; nil until CONNECT was accepted

	early   []byte // read while a SUBACK was held back
	in      splitter
	version byte // of MQTT, as CONNECT said

	mu  sync.Mutex // guards out, and keeps packets whole
	out splitter
}

// Read implements net.Conn.
func (w *wire) Read(b []byte) (int, error) {
	if len(w.early) > 0 {
		n := copy(b, w.early)
		w.early = w.early[n:]
		return n, nil
	}
	n, err := w.Conn.Read(b)
	w.noteInput(b[:n])
	return n, err
}

func (w *wire) noteInput(b []byte) {
	for _, p := range w.in.split(b) {
		packet, ok := decode(p, w.version)
		if !ok {
			continue
		}
		if packet.FixedHeader.Type == packets.Connect {
			w.version = packet.ProtocolVersion
		}
		w.kit.note(note{kind: received, wire: w, packet: packet, name: nameOf(string(w.kit.cfg.Controller), packet.TopicName)})
	}
}

// Write implements net.Conn. A SUBACK is held back for a moment, to see whether
// the controller waits for it.
func (w *wire) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.out.split(b) {
		packet, ok := decode(p, w.version)
		if !ok {
			continue
		}
		if packet.FixedHeader.Type == packets.Suback {
			w.listen()
		}
		w.kit.note(note{kind: written, wire: w, packet: packet})
	}
	return w.Conn.Write(b)
}

// listen takes what comes in within ackPause.
func (w *wire) listen() {
	b := make([]byte, 4096)
	if w.Conn.SetReadDeadline(w.kit.cfg.Wall().Add(ackPause)) != nil {
		return
	}
	n, _ := w.Conn.Read(b) // an error that lasts comes again
	w.early = append(w.early, b[:n]...)
	w.noteInput(b[:n])
}

// inject writes a packet that the broker would not.
func (w *wire) inject(packet packets.Packet) {
	var b bytes.Buffer
	if err := packet.PublishEncode(&b); err != nil {
		panic("conformance: " + err.Error())
	}
	_, _ = w.Write(b.Bytes()) // the reader sees the end of a connection too
}

// Close implements net.Conn.
func (w *wire) Close() error {
	w.once.Do(func() { w.kit.note(note{kind: ended, wire: w}) })
	return w.Conn.Close()
}

// harden makes closing reset the connection, as the service does.
func (w *wire) harden() {
	conn := w.Conn
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	if t, ok := conn.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
}

// maxPacket is more than the endpoint takes; nothing beyond it is looked at.
const maxPacket = 64 << 10

// splitter cuts a stream into MQTT packets.
type splitter struct {
	rest []byte
	lost bool // what came is not MQTT
}

// split returns the packets that are complete with these bytes.
func (s *splitter) split(b []byte) [][]byte {
	if s.lost {
		return nil
	}
	s.rest = append(s.rest, b...)
	var whole [][]byte
	for {
		n := packetLength(s.rest)
		if n < 0 || n > maxPacket {
			s.lost = true
			return whole
		}
		if n == 0 || n > len(s.rest) {
			return whole
		}
		whole = append(whole, bytes.Clone(s.rest[:n]))
		s.rest = s.rest[n:]
	}
}

// packetLength returns how long the first packet is: 0 while that cannot be told,
// -1 where it is none.
func packetLength(b []byte) int {
	length := 0
	for i := 1; i < len(b); i++ {
		length |= int(b[i]&0x7f) << (7 * (i - 1))
		if b[i] < 0x80 {
			return 1 + i + length
		}
		if i == 4 {
			return -1
		}
	}
	return 0
}

// decode reads the packets that the rules look at.
func decode(b []byte, version byte) (packets.Packet, bool) {
	packet := packets.Packet{ProtocolVersion: version}
	if packet.FixedHeader.Decode(b[0]) != nil {
		return packet, false
	}
	body := b[1:]
	for body[0] >= 0x80 {
		body = body[1:]
	}
	body = body[1:]
	packet.FixedHeader.Remaining = len(body)
	var err error
	switch packet.FixedHeader.Type {
	case packets.Connect:
		err = packet.ConnectDecode(body)
	case packets.Connack:
		err = packet.ConnackDecode(body)
	case packets.Subscribe:
		err = packet.SubscribeDecode(body)
	case packets.Suback:
		err = packet.SubackDecode(body)
	case packets.Publish:
		err = packet.PublishDecode(body)
	case packets.Puback:
		err = packet.PubackDecode(body)
	}
	return packet, err == nil
}
