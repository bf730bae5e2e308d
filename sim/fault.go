package sim

import (
	"context"

	"lintel/controller"
	"lintel/protocol"
)

// faults are the answers, by behaviour, that are given in the controller's
// place; 0 is no answer at all.
var faults = map[Behaviour]int{
	Silent:    0,
	AuthError: protocol.CodeAuth,
	Malformed: protocol.CodeMalformed,
}

// faultyDialer answers every command itself, so that none reaches the controller.
type faultyDialer struct {
	inner controller.Dialer
	code  int
}

// Dial implements controller.Dialer.
func (d faultyDialer) Dial(ctx context.Context, will []byte) (controller.Conn, error) {
	conn, err := d.inner.Dial(ctx, will)
	if err != nil {
		return nil, err
	}
	f := &faultyConn{Conn: conn, code: d.code, passed: make(chan controller.Message)}
	go f.filter()
	return f, nil
}

type faultyConn struct {
	controller.Conn
	code   int
	passed chan controller.Message
}

// Messages implements controller.Conn without the commands.
func (f *faultyConn) Messages() <-chan controller.Message { return f.passed }

// filter ends with the connection.
func (f *faultyConn) filter() {
	for {
		select {
		case <-f.Done():
			return
		case m := <-f.Conn.Messages():
			if m.Name == protocol.TopicCommand {
				f.answer(m.Payload)
				continue
			}
			select {
			case f.passed <- m:
			case <-f.Done():
				return
			}
		}
	}
}

func (f *faultyConn) answer(payload []byte) {
	m, err := protocol.Decode[protocol.Command](payload)
	if err != nil || f.code == 0 {
		return
	}
	ack := &protocol.Ack{Version: protocol.Version, ID: m.ID, Session: m.Session, Code: f.code, Reason: "simulated_fault"}
	f.Publish(protocol.TopicAck, protocol.Encode(ack), nil)
}
