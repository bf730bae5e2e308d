package broker

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mochi-mqtt/server/v2/listeners"

	"lintel/tcp"
)

// listener guards what the MQTT server leaves open: it bounds connections that
// have not authenticated in number and in time, keeps accepting after running
// out of descriptors, and sets up each connection so that a cut network cannot
// deliver a command late.
type listener struct {
	net.Listener
	name    string
	foreign bool // only identities with Rules of their own are let in
	limits  Limits
	log     *slog.Logger
	running sync.WaitGroup // connections; grows under mu and only until closed

	mu         sync.Mutex // guards what follows
	closed     bool
	open       map[*guardedConn]bool
	handshakes map[string]int // unauthenticated connections by address
	total      int
	warned     time.Time
}

func newListener(l net.Listener, limits Limits, log *slog.Logger) *listener {
	return &listener{Listener: l, limits: limits, log: log, handshakes: map[string]int{}, open: map[*guardedConn]bool{}}
}

// The methods of listeners.Listener.

func (l *listener) Init(*slog.Logger) error { return nil }
func (l *listener) ID() string              { return l.name }
func (l *listener) Address() string         { return l.Addr().String() }
func (l *listener) Protocol() string        { return "tcp" }

// Serve accepts until Close.
func (l *listener) Serve(establish listeners.EstablishFn) {
	for {
		conn, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			l.log.Error("cannot accept a connection", "error", err)
			time.Sleep(acceptPause) // out of descriptors, most likely
			continue
		}
		c := l.guard(conn)
		if !l.admit(c) {
			conn.Close()
			continue
		}
		go func() {
			defer l.end(c)
			_ = establish(l.ID(), c) // why a connection ended is the hook's to tell
		}()
	}
}

// admit takes a place among the handshakes, unless there is none left: in all,
// or for one address, so that nobody alone keeps everybody else out.
func (l *listener) admit(c *guardedConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	address := addressOf(c)
	if l.total < l.limits.MaxHandshakes && l.handshakes[address] < l.limits.MaxPerAddress {
		l.total++
		l.handshakes[address]++
		l.open[c] = true
		l.running.Add(1)
		return true
	}
	if now := time.Now(); now.Sub(l.warned) >= warnEvery {
		l.warned = now
		l.log.Warn("refusing connections: too many have not authenticated", "address", address,
			"from_it", l.handshakes[address], "in_all", l.total)
	}
	return false
}

// end closes a connection and forgets it.
func (l *listener) end(c *guardedConn) {
	c.Close()
	c.finished()
	l.mu.Lock()
	delete(l.open, c)
	l.mu.Unlock()
	l.running.Done()
}

// stop accepts nothing more, closes every connection, and returns when all have
// ended. The server's own close counts on connections not beginning meanwhile.
func (l *listener) stop() {
	l.Listener.Close()
	l.mu.Lock()
	l.closed = true
	for c := range l.open {
		c.Close()
	}
	l.mu.Unlock()
	l.running.Wait()
}

// leave gives a place among the handshakes back.
func (l *listener) leave(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total--
	if l.handshakes[address]--; l.handshakes[address] == 0 {
		delete(l.handshakes, address)
	}
}

// warnEvery keeps a flood of connections from becoming a flood of lines.
const warnEvery = 10 * time.Second

func addressOf(conn net.Conn) string {
	host, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		return conn.RemoteAddr().String()
	}
	return host
}

const acceptPause = 100 * time.Millisecond

// Close implements listeners.Listener. The broker has called stop before.
func (l *listener) Close(listeners.CloseFn) {}

func (l *listener) guard(conn net.Conn) *guardedConn {
	c := &guardedConn{Conn: conn, listener: l, until: time.Now().Add(l.limits.Handshake)}
	_ = conn.SetDeadline(c.until) // a connection that cannot take it fails at once
	return c
}

// guardedConn keeps the handshake's deadline until the client has
// authenticated, and gives every write a time limit.
type guardedConn struct {
	net.Conn
	listener *listener
	until    time.Time
	ready    atomic.Bool
	once     sync.Once

	generation uint64       // rises with each authentication; set before ready
	rules      Rules        // likewise
	replaces   string       // likewise; see Connection
	refused    atomic.Int64 // topics
}

func (c *guardedConn) authenticated(generation uint64) {
	c.generation = generation
	c.ready.Store(true)
	tcp.Harden(tcpOf(c.Conn))
	c.finished()
}

// finished gives the place among the handshakes back, once.
func (c *guardedConn) finished() { c.once.Do(func() { c.listener.leave(addressOf(c.Conn)) }) }

// SetDeadline is what the MQTT server calls to keep a connection alive; before
// authentication it may not go past the handshake's end.
func (c *guardedConn) SetDeadline(t time.Time) error {
	if !c.ready.Load() && (t.IsZero() || t.After(c.until)) {
		t = c.until
	}
	return c.Conn.SetReadDeadline(t)
}

func (c *guardedConn) Write(b []byte) (int, error) {
	if err := c.Conn.SetWriteDeadline(time.Now().Add(c.listener.limits.WriteTimeout)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

func tcpOf(conn net.Conn) *net.TCPConn {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	plain, _ := conn.(*net.TCPConn)
	return plain
}
