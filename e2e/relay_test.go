package e2e

import (
	"io"
	"net"
	"sync"
	"testing"
)

// relay is the network between controllers and a service that may move, and
// that the test can make lose what controllers say.
type relay struct {
	address string
	lost    lockedBuffer

	mu     sync.Mutex // guards what follows
	target string
	losing bool
}

func newRelay(t *testing.T, target string) *relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{address: listener.Addr().String(), target: target}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			go r.carry(conn)
		}
	}()
	return r
}

// leadTo makes new connections lead to another service, without losses.
func (r *relay) leadTo(target string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.target, r.losing = target, false
}

// lose makes the relay lose what controllers send from now on.
func (r *relay) lose() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.losing = true
}

// carry carries one connection until either side ends it.
func (r *relay) carry(controller net.Conn) {
	defer controller.Close()
	r.mu.Lock()
	target := r.target
	r.mu.Unlock()
	service, err := net.Dial("tcp", target)
	if err != nil {
		return // as if there were no service
	}
	defer service.Close()
	go func() {
		defer service.Close()
		_, _ = io.Copy(upward{r, service}, controller)
	}()
	_, _ = io.Copy(controller, service)
}

// upward is the way from a controller to the service.
type upward struct {
	relay   *relay
	service net.Conn
}

func (u upward) Write(text []byte) (int, error) {
	u.relay.mu.Lock()
	losing := u.relay.losing
	u.relay.mu.Unlock()
	if losing {
		return u.relay.lost.Write(text)
	}
	return u.service.Write(text)
}
