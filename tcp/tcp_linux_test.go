package tcp_test

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"lintel/tcp"
)

// unread returns a connection whose peer reads nothing, with more written than the
// peer's machine takes.
func unread(t *testing.T) *net.TCPConn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	peer, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { peer.Close() })
	for err == nil {
		_ = conn.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
		_, err = conn.Write(make([]byte, 1<<20))
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	return conn.(*net.TCPConn)
}

// TestConfirmedGoesByTheClock: on a busy machine a pause of milliseconds may take
// much longer, and the command's deadline does not wait.
func TestConfirmedGoesByTheClock(t *testing.T) {
	conn := unread(t)
	now := time.Unix(1_000_000, 0)
	until := now.Add(time.Hour)
	busy := func() time.Time {
		now = now.Add(time.Minute) // which one pause has taken
		return now
	}
	confirmed := make(chan bool, 1)
	go func() { confirmed <- tcp.Confirmed(conn, until, busy) }()
	select {
	case c := <-confirmed:
		if c {
			t.Error("bytes that nobody took are confirmed")
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it counts its pauses")
	}
}
