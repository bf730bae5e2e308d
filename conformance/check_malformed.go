package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"lintel/protocol"
)

func ignoresUnknownField(ctx context.Context, k *kit) verdict {
	c := k.command(k.stay())
	f := fieldsOf(c)
	f["x_later_version"] = json.RawMessage(`{"anything":[1,null]}`)
	return k.taken(ctx, f.bytes(), c.ID)
}

// padded is a command of so many bytes.
func padded(c protocol.Command, size int) []byte {
	f := fieldsOf(c)
	f["padding"] = json.RawMessage(`""`)
	fill := strings.Repeat("x", size-len(f.bytes()))
	f["padding"] = json.RawMessage(`"` + fill + `"`)
	return f.bytes()
}

func readsLongest(ctx context.Context, k *kit) verdict {
	c := k.command(k.stay())
	return k.taken(ctx, padded(c, protocol.MaxPayload), c.ID)
}

func refusesOversized(ctx context.Context, k *kit) verdict {
	c := k.command(k.tempting(ctx))
	return k.ignored(ctx, padded(c, protocol.MaxPayload+1))
}

func refusesNotJSON(ctx context.Context, k *kit) verdict {
	broken := []func(whole []byte) []byte{
		func(whole []byte) []byte { return whole[:len(whole)-1] },
		func(whole []byte) []byte { return append(whole, "{}"...) },
		func(whole []byte) []byte { return []byte("[" + string(whole) + "]") },
	}
	for _, b := range broken {
		c := k.command(k.tempting(ctx))
		if v := k.ignored(ctx, b(protocol.Encode(&c))); v.outcome != Pass {
			return v
		}
	}
	return passed
}

func refusesDuplicate(ctx context.Context, k *kit) verdict {
	c := k.command(k.tempting(ctx))
	return k.ignored(ctx, append([]byte(fmt.Sprintf(`{"action":%q,`, c.Action)), protocol.Encode(&c)[1:]...))
}

func refusesInvalidUTF8(ctx context.Context, k *kit) verdict {
	c := k.command(k.tempting(ctx))
	f := fieldsOf(c)
	f["note"] = json.RawMessage(`"@"`)
	return k.ignored(ctx, bytes.Replace(f.bytes(), []byte("@"), []byte{0xff}, 1))
}

// edit makes a good command a bad one.
type edit struct {
	what  string
	apply func(fields)
}

func setting(name, value string) edit {
	return edit{name + " " + value, func(f fields) { f[name] = json.RawMessage(value) }}
}

func without(name string) edit {
	return edit{"without " + name, func(f fields) { delete(f, name) }}
}

// edited judges that commands, edited so, are refused as malformed.
func edited(ctx context.Context, k *kit, edits ...edit) verdict {
	mark := k.notes.mark()
	for _, e := range edits {
		c := k.command(k.tempting(ctx))
		f := fieldsOf(c)
		e.apply(f)
		if v := k.answered(ctx, f.bytes(), c.ID, protocol.CodeMalformed, protocol.ReasonMalformed); v.outcome != Pass {
			return failed("%s: %s", e.what, v.seen)
		}
	}
	return k.nothing(ctx, mark, func(protocol.Ack) bool { return false })
}

func refusesVersion(ctx context.Context, k *kit) verdict { return edited(ctx, k, setting("v", "2")) }

func refusesMissing(ctx context.Context, k *kit) verdict {
	return edited(ctx, k, without("v"), without("session"), without("seq"), without("door"), without("action"), without("deadline"))
}

func refusesValues(ctx context.Context, k *kit) verdict {
	return edited(ctx, k,
		setting("session", `"short"`), setting("seq", "0"), setting("seq", "null"),
		setting("door", "0"), setting("door", "33"), setting("door", `"1"`),
		setting("action", `"hold"`), edit{"action in upper case", func(f fields) { f["action"] = bytes.ToUpper(f["action"]) }},
		setting("deadline", "0"), setting("deadline", "253402300800000"))
}

func refusesFractions(ctx context.Context, k *kit) verdict {
	door := fmt.Sprint(k.cfg.Door)
	return edited(ctx, k, setting("door", door+".0"), setting("door", door+"e0"))
}

func refusesLetterCase(ctx context.Context, k *kit) verdict {
	return edited(ctx, k, edit{"Action instead of action", func(f fields) {
		f["Action"] = f["action"]
		delete(f, "action")
	}})
}
