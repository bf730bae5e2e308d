//go:build !linux

package broker

import (
	"net"
	"time"
)

// hardenTCP makes closing reset the connection. Other systems have no
// TCP_USER_TIMEOUT; there the deadline in the controller stands alone.
func hardenTCP(conn *net.TCPConn) {
	if conn != nil {
		_ = conn.SetLinger(0)
	}
}

// confirmed cannot be known here.
func confirmed(*net.TCPConn, time.Duration) bool { return true }
