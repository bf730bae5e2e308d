package bridge

import (
	"context"
	"errors"
	"sync"

	"lintel"
	"lintel/controller"
	"lintel/link"
	"lintel/protocol"
)

// dialer connects a controller in this process to the link.
type dialer struct {
	bridge *Bridge
	unit   *unit
}

// Dial implements controller.Dialer.
func (d dialer) Dial(ctx context.Context, _ []byte) (controller.Conn, error) {
	if d.unit.conn.Ended() {
		return nil, errPipe
	}
	p := &pipe{link: d.bridge.link, unit: d.unit, messages: make(chan controller.Message, pipeLength),
		out: make(chan item, pipeLength), done: make(chan struct{})}
	d.bridge.running.Go(p.run)
	return p, nil
}

var errPipe = errors.New("the device's connection has ended")

// pipeLength is how many messages wait either way at the most.
const pipeLength = 256

// pipe is one connection between a controller and the link, without a network. It
// is the controller's controller.Conn and the link's link.Peer.
type pipe struct {
	link     *link.Link
	unit     *unit
	messages chan controller.Message // to the controller
	out      chan item               // to the link, in order
	done     chan struct{}
	once     sync.Once
}

type item struct {
	name    string
	payload []byte
	stored  func()
}

// run hands messages to the link one after another until the pipe ends.
func (p *pipe) run() {
	defer p.link.End(p)
	for {
		select {
		case i := <-p.out:
			p.link.Hear(p, i.name, i.payload)
			if i.stored != nil && !p.Ended() {
				i.stored()
			}
		case <-p.done:
			return
		}
	}
}

// Messages implements controller.Conn.
func (p *pipe) Messages() <-chan controller.Message { return p.messages }

// Done implements controller.Conn.
func (p *pipe) Done() <-chan struct{} { return p.done }

// Publish implements controller.Conn.
func (p *pipe) Publish(name string, payload []byte, stored func()) {
	select {
	case p.out <- item{name, payload, stored}:
	case <-p.done:
	default:
		p.Close() // the link does not keep up; the controller begins anew
	}
}

// Close implements controller.Conn.
func (p *pipe) Close() { p.once.Do(func() { close(p.done) }) }

// ID implements link.Peer.
func (p *pipe) ID() lintel.ID { return p.unit.conn.ID() }

// Send implements link.Peer. A door's commands come one after another: the hardware
// goes by the deadline of the last.
func (p *pipe) Send(name string, payload []byte) error {
	select {
	case <-p.done:
		return errPipe
	default:
	}
	if name == protocol.TopicCommand {
		if command, err := protocol.Decode[protocol.Command](payload); err == nil {
			p.unit.due.Store(command.Deadline)
		}
	}
	select {
	case p.messages <- controller.Message{Name: name, Payload: payload}:
		return nil
	default:
		p.Close()
		return errPipe
	}
}

// Subscribed implements link.Peer: a controller in this process takes everything.
func (p *pipe) Subscribed(string) bool { return true }

// Ended implements link.Peer.
func (p *pipe) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return p.unit.conn.Ended()
	}
}

// Reset implements link.Peer.
func (p *pipe) Reset() {
	p.Close()
	p.unit.conn.Reset()
}
