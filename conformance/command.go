package conformance

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	"lintel"
	"lintel/protocol"
)

// command makes the next command of the present session.
func (k *kit) command(action string) protocol.Command {
	hello, _ := k.hello(k.current())
	if hello.Session != k.session {
		k.session, k.sequence = hello.Session, 0
	}
	k.sequence++
	return protocol.Command{
		Version: protocol.Version, ID: string(lintel.NewID()), Session: k.session, Sequence: k.sequence,
		Door: k.cfg.Door, Action: action, Deadline: k.serviceTime() + deadline.Milliseconds(),
	}
}

// fields are a command's as JSON, to be changed into what protocol would not write.
type fields map[string]json.RawMessage

func fieldsOf(c protocol.Command) fields {
	f := fields{}
	if err := json.Unmarshal(protocol.Encode(&c), &f); err != nil {
		panic("conformance: " + err.Error())
	}
	return f
}

func (f fields) bytes() []byte {
	b, err := json.Marshal(f)
	if err != nil {
		panic("conformance: " + err.Error())
	}
	return b
}

// send writes a command. id is what the controller can read of its id.
func (k *kit) send(payload []byte, id string) (mark int) {
	mark = k.notes.mark()
	w := k.current()
	if w == nil {
		return mark
	}
	k.note(note{kind: commanded, wire: w, id: id})
	_ = k.linkOf(w).Send(protocol.TopicCommand, payload)
	return mark
}

// sendRetained writes a command with the retain flag.
func (k *kit) sendRetained(payload []byte) (mark int) {
	mark = k.notes.mark()
	if w := k.current(); w != nil {
		w.inject(packets.Packet{
			FixedHeader: packets.FixedHeader{Type: packets.Publish, Retain: true},
			TopicName:   protocol.Topic(string(k.cfg.Controller), protocol.TopicCommand), Payload: payload,
		})
	}
	return mark
}

// answer waits for the ack of a command.
func (k *kit) answer(ctx context.Context, mark int, id string) (protocol.Ack, bool) {
	n, ok := k.notes.next(ctx, mark, answerTime, func(n note) bool {
		a, ok := n.ack()
		return ok && a.ID == id
	})
	a, _ := n.ack()
	return a, ok
}

// taken asks for something, and judges that the controller got as far as looking
// at the door. What it says about the door is its own affair.
func (k *kit) taken(ctx context.Context, payload []byte, id string) verdict {
	mark := k.send(payload, id)
	a, ok := k.answer(ctx, mark, id)
	switch {
	case !ok:
		return failed("no valid answer within %s", answerTime)
	case a.Code != protocol.CodeTaken && a.Code != protocol.CodePrecondition && a.Code != protocol.CodeUnsupported:
		return failed("it was answered %d %s", a.Code, a.Reason)
	}
	return passed
}

// refused sends a command that must be answered with a code, and not be acted on.
func (k *kit) refused(ctx context.Context, payload []byte, id string, code int, reason string) verdict {
	mark := k.notes.mark()
	if v := k.answered(ctx, payload, id, code, reason); v.outcome != Pass {
		return v
	}
	return k.nothing(ctx, mark, func(protocol.Ack) bool { return false })
}

// answered is refused without waiting whether the door moves.
func (k *kit) answered(ctx context.Context, payload []byte, id string, code int, reason string) verdict {
	mark := k.send(payload, id)
	a, ok := k.answer(ctx, mark, id)
	_, listed := reasons[a.Reason]
	switch {
	case !ok:
		return failed("no valid answer within %s", answerTime)
	case a.Code != code || listed && a.Reason != reason:
		return failed("it was answered %d %s instead of %d %s", a.Code, a.Reason, code, reason)
	}
	return passed
}

// ignored sends what has no id that must be readable: it may be answered as
// malformed or not at all.
func (k *kit) ignored(ctx context.Context, payload []byte) verdict {
	mark := k.send(payload, "")
	return k.nothing(ctx, mark, func(a protocol.Ack) bool { return a.Code != protocol.CodeMalformed })
}

// nothing judges that, for a moment, the door is not moved and no answer comes
// that is wrong.
func (k *kit) nothing(ctx context.Context, mark int, wrong func(protocol.Ack) bool) verdict {
	v := passed
	k.notes.until(ctx, mark, quietTime, func(notes []note) bool {
		for _, n := range notes {
			if a, ok := n.ack(); ok && wrong(a) {
				v = failed("it was answered %d %s", a.Code, a.Reason)
			}
			if s, ok := n.state(); ok && s.Door == k.cfg.Door && s.Event != "" && s.Cause != "local" {
				v = failed("the door was moved: it is %s", s.Value)
			}
		}
		return v.outcome != Pass
	})
	return v
}

// move asks for a movement and returns its command and where it began.
func (k *kit) move(ctx context.Context) (c protocol.Command, mark int, v verdict) {
	k.atRest(ctx)
	action := k.away()
	if action == "" {
		return c, 0, skipped("the door is %s: bring it to an end", k.value())
	}
	c = k.command(action)
	mark = k.send(protocol.Encode(&c), c.ID)
	a, ok := k.answer(ctx, mark, c.ID)
	switch {
	case !ok:
		return c, mark, failed("no valid answer within %s", answerTime)
	case a.Code != protocol.CodeTaken:
		return c, mark, skipped("the controller would not move the door: %d %s", a.Code, a.Reason)
	}
	return c, mark, passed
}

// inService is a deadline that is so far from now in service time.
func (k *kit) inService(d time.Duration) int64 { return k.serviceTime() + d.Milliseconds() }
