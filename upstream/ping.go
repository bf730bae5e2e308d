package upstream

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho/log"
)

// The broker is asked whether it is there before each command, and else every
// pingEvery; without an answer in pingTimeout the connection ends.
const (
	keepAlive   = 20 // seconds, as the broker is told
	pingEvery   = 10 * time.Second
	pingTimeout = 3 * time.Second
)

var errSilent = errors.New("the broker does not answer")

// pinger implements paho.Pinger.
type pinger struct {
	conn net.Conn

	mu      sync.Mutex // guards waiting
	waiting []chan struct{}
}

// ask returns a channel that is closed when the broker has answered something that was
// sent after the call began: it is enough to count, since answers come in order.
func (p *pinger) ask() (<-chan struct{}, error) {
	answered := make(chan struct{})
	p.mu.Lock()
	p.waiting = append(p.waiting, answered)
	p.mu.Unlock()
	_, err := packets.NewControlPacket(packets.PINGREQ).WriteTo(p.conn)
	return answered, err
}

// PingResp implements paho.Pinger.
func (p *pinger) PingResp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) > 0 {
		close(p.waiting[0])
		p.waiting = p.waiting[1:]
	}
}

// Run implements paho.Pinger.
func (p *pinger) Run(ctx context.Context, _ net.Conn, keepAlive uint16) error {
	every := pingEvery
	if keepAlive > 0 {
		every = min(every, time.Duration(keepAlive)*time.Second/2)
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		answered, err := p.ask()
		if err != nil {
			return err
		}
		select {
		case <-answered:
		case <-time.After(pingTimeout):
			return errSilent
		case <-ctx.Done():
			return nil
		}
	}
}

// PacketSent implements paho.Pinger: pings do not depend on it.
func (p *pinger) PacketSent() {}

// PacketReceived implements paho.Pinger: pings do not depend on it.
func (p *pinger) PacketReceived() {}

// SetDebug implements paho.Pinger.
func (p *pinger) SetDebug(log.Logger) {}
