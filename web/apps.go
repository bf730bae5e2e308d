package web

import (
	"slices"

	"lintel"
	"lintel/store"
)

// appRow is what may act for the person: an app that was agreed to, or a token
// that an administrator made.
type appRow struct {
	ID     lintel.ID
	Name   string
	Token  bool
	Scopes []scopeWord
	Since  moment
	Used   moment // only of apps
	Until  string
}

func (p *Pages) apps(v *visit) answer {
	rows, err := p.connected(v)
	if err != nil {
		return p.failed(v, err)
	}
	return show("apps", rows)
}

// connected lists everything that may act for the person.
func (p *Pages) connected(v *visit) ([]appRow, error) {
	now := p.cfg.Now()
	grants, err := p.store.Grants(v.Context(), v.person.ID, now)
	if err != nil {
		return nil, err
	}
	tokens, err := p.store.Tokens(v.Context(), v.person.ID)
	if err != nil {
		return nil, err
	}
	var rows []appRow
	for _, g := range byApp(grants) {
		rows = append(rows, appRow{
			ID: g.ID, Name: g.ClientName, Scopes: inWords(g.Scopes),
			Since: momentOf(g.CreatedAt, now), Used: momentOf(g.LastUsedAt, now), Until: day(g.ExpiresAt),
		})
	}
	for _, t := range tokens {
		if t.RevokedAt.IsZero() && now.Before(t.ExpiresAt) {
			rows = append(rows, appRow{
				ID: t.ID, Name: firstOf(t.Label, "Without a name"), Token: true, Scopes: inWords(t.Scopes),
				Since: momentOf(t.CreatedAt, now), Until: day(t.ExpiresAt),
			})
		}
	}
	return rows, nil
}

// byApp makes one of all grants to an app: what it may do by any of them, since
// the first and until the last.
func byApp(grants []store.GrantListed) []store.GrantListed {
	var apps []store.GrantListed
	for _, g := range grants { // the newest first
		i := slices.IndexFunc(apps, func(a store.GrantListed) bool { return a.ClientID == g.ClientID })
		if i < 0 {
			apps = append(apps, g)
			continue
		}
		a := &apps[i]
		a.Scopes |= g.Scopes
		a.CreatedAt = g.CreatedAt
		if g.LastUsedAt.After(a.LastUsedAt) {
			a.LastUsedAt = g.LastUsedAt
		}
		if g.ExpiresAt.After(a.ExpiresAt) {
			a.ExpiresAt = g.ExpiresAt
		}
	}
	return apps
}

func (p *Pages) disconnect(v *visit) answer {
	id, err := lintel.ParseID(v.PathValue("id"))
	if err != nil {
		return missing()
	}
	if err := p.store.EndGrant(v.Context(), v.person.ID, id, p.cfg.Now()); err != nil {
		return p.failed(v, err)
	}
	p.cfg.Log.Info("app disconnected", "account", v.person.ID, "grant", id)
	return goTo("/account/apps?done=disconnected")
}

func (p *Pages) endToken(v *visit) answer {
	id, err := lintel.ParseID(v.PathValue("id"))
	if err != nil {
		return missing()
	}
	if err := p.store.EndToken(v.Context(), v.person.ID, id, p.cfg.Now()); err != nil {
		return p.failed(v, err)
	}
	p.cfg.Log.Info("token ended", "account", v.person.ID, "token", id)
	return goTo("/account/apps?done=token-ended")
}
