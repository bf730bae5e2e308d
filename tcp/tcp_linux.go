package tcp

import (
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// userTimeout is how long sent bytes may stay unconfirmed before the kernel
// gives the connection up. Without it a command that was written just before
// the network was cut is delivered when the network comes back, many seconds
// after the service has told the caller that the controller cannot be found.
const userTimeout = 3 * time.Second

// Harden makes closing reset the connection, and bounds unconfirmed sending.
// Failing to is no reason to do without the connection: it is one guard of several.
func Harden(conn *net.TCPConn) {
	if conn == nil {
		return
	}
	_ = conn.SetLinger(0)
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(userTimeout.Milliseconds()))
	})
}

// confirmPause is how often it is looked whether sent bytes are confirmed.
const confirmPause = 2 * time.Millisecond

// Confirmed returns once the peer's machine has confirmed every byte that was
// written, and false where it has not by a time of the clock now. Pauses are not
// counted: on a busy machine each takes longer than it should.
func Confirmed(conn *net.TCPConn, until time.Time, now func() time.Time) bool {
	if conn == nil {
		return true
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	for now().Before(until) {
		left := 1
		if raw.Control(func(fd uintptr) { left, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) }) != nil || err != nil {
			return false
		}
		if left == 0 {
			return true
		}
		time.Sleep(confirmPause)
	}
	return false
}
