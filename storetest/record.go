package storetest

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"lintel"
	"lintel/access"
	"lintel/store"
)

var recordCases = []testCase{
	{"RecordCommand", "stores who, what and when", recordStores},
	{"RecordCommand", "names the app that the token was given to", recordClient},
	{"RecordCommand", "refuses for each reason", recordRefuses},
	{"RecordCommand", "decides as access.Move does", recordAgrees},
	{"RecordCommand", "an id is recorded once", recordTwice},
}

func recordStores(t *testing.T, h *house) {
	for i, action := range []lintel.Action{lintel.ActionOpen, lintel.ActionClose, lintel.ActionStop} {
		c := h.command()
		c.Action = action
		c.RequestedAt = epoch.Add(time.Duration(i) * time.Second)
		c.PersonID, c.TokenID, c.ControllerID, c.DoorNumber = "ignored", "ignored", "ignored", 99
		recorded, err := h.RecordCommand(t.Context(), c, h.token.Hash)
		must(t, err)
		equal(t, recorded, true)
		equal(t, h.read(t, c.ID), h.complete(c))
	}
}

func recordClient(t *testing.T, h *house) {
	f := h.family(t, h.owner, h.addClient(t, newClient("app")))
	c := h.command()
	c.ClientID = "ignored"
	h.record(t, c, f.AccessHash)
	c = h.complete(c)
	c.TokenID, c.ClientID = f.AccessID, "app"
	equal(t, h.read(t, c.ID), c)
}

// refusal is one reason why a command may not be recorded.
type refusal struct {
	name    string
	arrange func(t *testing.T, h *house, c *lintel.Command, token *store.Token)
}

var refusals = []refusal{
	{"unknown token", func(_ *testing.T, _ *house, _ *lintel.Command, token *store.Token) { token.Hash = "x" }},
	{"no token", func(_ *testing.T, _ *house, _ *lintel.Command, token *store.Token) { token.Hash = "" }},
	{"revoked token", func(t *testing.T, h *house, _ *lintel.Command, token *store.Token) {
		must(t, h.RevokeToken(t.Context(), token.ID, "", epoch))
	}},
	{"revoked grant", func(t *testing.T, h *house, _ *lintel.Command, token *store.Token) {
		f := h.family(t, h.owner, h.addClient(t, newClient(string(h.owner.ID))))
		must(t, h.RevokeGrant(t.Context(), f.consent.ID, "test", epoch))
		token.Hash = f.AccessHash
	}},
	{"revoked token of a grant", func(t *testing.T, h *house, _ *lintel.Command, token *store.Token) {
		f := h.family(t, h.owner, h.addClient(t, newClient(string(h.owner.ID))))
		must(t, h.RevokeToken(t.Context(), f.AccessID, "", epoch))
		token.Hash = f.AccessHash
	}},
	{"disabled client", func(t *testing.T, h *house, _ *lintel.Command, token *store.Token) {
		app := h.addClient(t, newClient(string(h.owner.ID)))
		token.Hash = h.family(t, h.owner, app).AccessHash
		must(t, h.DisableClient(t.Context(), app.ID, epoch))
	}},
	{"token expires at this moment", func(_ *testing.T, _ *house, c *lintel.Command, token *store.Token) {
		c.RequestedAt = token.ExpiresAt
	}},
	{"token expired", func(_ *testing.T, _ *house, c *lintel.Command, token *store.Token) {
		c.RequestedAt = token.ExpiresAt.Add(time.Hour)
	}},
	{"disabled person", func(t *testing.T, h *house, _ *lintel.Command, _ *store.Token) { h.disable(t, h.owner) }},
	{"scope to close only", func(t *testing.T, h *house, _ *lintel.Command, token *store.Token) {
		*token = h.addToken(t, h.owner, lintel.ScopeClose|lintel.ScopeRead)
	}},
	{"scope to open only", func(t *testing.T, h *house, c *lintel.Command, token *store.Token) {
		*token, c.Action = h.addToken(t, h.owner, lintel.ScopeOpen|lintel.ScopeRead), lintel.ActionClose
	}},
	{"half of the scope to stop", func(t *testing.T, h *house, c *lintel.Command, token *store.Token) {
		*token, c.Action = h.addToken(t, h.owner, lintel.ScopeOpen|lintel.ScopeRead), lintel.ActionStop
	}},
	{"somebody else's door", func(t *testing.T, h *house, _ *lintel.Command, token *store.Token) {
		stranger := h.neighbour(t)
		*token = stranger.token
	}},
	{"revoked controller", func(t *testing.T, h *house, _ *lintel.Command, _ *store.Token) {
		h.revokeController(t, h.controller)
	}},
	{"unknown door", func(_ *testing.T, _ *house, c *lintel.Command, _ *store.Token) { c.DoorID = lintel.NewID() }},
	{"no door", func(_ *testing.T, _ *house, c *lintel.Command, _ *store.Token) { c.DoorID = "" }},
}

// recordRefuses gives each reason a house of its own, which is otherwise in order.
func recordRefuses(t *testing.T, h *house) {
	for _, r := range refusals {
		own := h.neighbour(t)
		c, token := own.command(), own.token
		r.arrange(t, own, &c, &token)
		recorded, err := own.RecordCommand(t.Context(), c, token.Hash)
		if recorded || err != nil {
			t.Errorf("%s: recorded %v, error %v", r.name, recorded, err)
		}
	}
	all, err := h.Commands(t.Context(), "", 1000)
	must(t, err)
	equal(t, len(all), 0)
}

// neighbour is another house in the same database.
func (h *house) neighbour(t *testing.T) *house {
	t.Helper()
	n := &house{Store: h.Store, engine: h.engine}
	n.owner = h.addPerson(t, string(lintel.NewID())+"@example.org")
	n.token = h.addToken(t, n.owner, allScopes)
	n.controller, n.doors = h.addController(t, n.owner, 1)
	return n
}

// recordAgrees holds the condition in SQL to the decision in Go, in whatever
// circumstances: they are two texts of one rule.
func recordAgrees(t *testing.T, h *house) {
	rapid.Check(t, func(rt *rapid.T) {
		own := h.neighbour(t)
		token := newToken(own.owner, lintel.Scope(rapid.IntRange(1, int(allScopes)).Draw(rt, "scopes")))
		if rapid.Bool().Draw(rt, "stranger") {
			token.PersonID = h.owner.ID
		}
		var grant lintel.ID
		if rapid.Bool().Draw(rt, "of an app") {
			grant = h.grantToken(t, token)
		} else {
			must(t, h.AddToken(t.Context(), token))
		}
		c := own.command()
		c.Action = rapid.SampledFrom([]lintel.Action{lintel.ActionOpen, lintel.ActionClose, lintel.ActionStop}).Draw(rt, "action")
		c.RequestedAt = token.ExpiresAt.Add(time.Duration(rapid.IntRange(-2, 1).Draw(rt, "lateness")) * time.Millisecond)
		if rarely(rt, "revoked") {
			must(t, h.RevokeToken(t.Context(), token.ID, "", epoch))
		}
		if rarely(rt, "grant revoked") && grant != "" {
			must(t, h.RevokeGrant(t.Context(), grant, "test", epoch))
		}
		if rarely(rt, "disabled") {
			h.disable(t, own.owner)
		}
		if rarely(rt, "controller revoked") {
			h.revokeController(t, own.controller)
		}
		if rarely(rt, "unknown door") {
			c.DoorID = lintel.NewID()
		}
		who, what := h.authority(t, token, c.DoorID)
		allowed := access.Move(who, what, c.Action, c.RequestedAt) == nil
		recorded, err := h.RecordCommand(t.Context(), c, token.Hash)
		must(rt, err)
		equal(rt, recorded, allowed)
	})
}

// grantToken stores a token as one that an app was given, and returns its grant.
func (h *house) grantToken(t *testing.T, token store.Token) lintel.ID {
	t.Helper()
	g, code := h.consent(t, lintel.Person{ID: token.PersonID}, commandLine)
	issue := newIssue(epoch)
	issue.AccessID, issue.AccessHash, issue.AccessScopes, issue.AccessExpiresAt = token.ID, token.Hash, token.Scopes, token.ExpiresAt
	equal(t, h.redeem(t, code, issue), lintel.Redeemed)
	return g.ID
}

// rarely keeps allowed circumstances from drowning in refused ones.
func rarely(rt *rapid.T, label string) bool { return rapid.IntRange(0, 7).Draw(rt, label) == 0 }

func recordTwice(t *testing.T, h *house) {
	c := h.sent(t)
	again := h.command()
	again.ID, again.Action = c.ID, lintel.ActionClose
	recorded, err := h.RecordCommand(t.Context(), again, h.token.Hash)
	wantCode(t, err, lintel.CodeInternal)
	equal(t, recorded, false)
	equal(t, h.read(t, c.ID), c)
}
