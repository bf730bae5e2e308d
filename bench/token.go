package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"lintel"
	"lintel/access"
	"lintel/secret"
	"lintel/store"
	"lintel/store/sqlite"
)

// otherTokens is how many tokens the one that is looked up is among.
const otherTokens = 1000

// measureTokens takes the time of one token check as every request does it: hash
// the token, read its row, decide. In this process, without HTTP.
func (b *bench) measureTokens(ctx context.Context) (err error) {
	engine, err := sqlite.Open(ctx, filepath.Join(b.dir, "tokens"))
	if err != nil {
		return err
	}
	s := store.New(engine)
	defer func() { err = errors.Join(err, s.Close()) }()
	token, err := fillTokens(ctx, s)
	if err != nil {
		return err
	}
	times := make([]time.Duration, 0, b.extent.tokens)
	for range b.extent.tokens {
		began := time.Now()
		subject, err := s.Subject(ctx, secret.Hash(token))
		if err == nil {
			err = access.Token(subject, time.Now())
		}
		if err != nil {
			return err
		}
		times = append(times, time.Since(began))
	}
	got := spreadOf(times)
	b.add(figure{
		Name: "token check", Value: got.p50, Tail: got.p99, Unit: "us", Budget: 10,
		Note: "Token check: hash, row, decision, through the store package in this process, of an app among 1000 in SQLite; nothing is cached.",
	})
	return nil
}

// fillTokens stores an account with apps that have tokens, as most tokens are, and
// returns the last of them.
func fillTokens(ctx context.Context, s *store.Store) (token string, err error) {
	now := time.Now()
	person := lintel.Person{ID: lintel.NewID(), Email: "token@bench.example", CreatedAt: now}
	if err := s.AddPerson(ctx, person, ""); err != nil {
		return "", err
	}
	for range otherTokens {
		grant := lintel.Grant{
			ID: lintel.NewID(), PersonID: person.ID, ClientID: lintel.CommandLineClient, Scopes: lintel.AllScopes,
			CreatedAt: now, ExpiresAt: now.Add(time.Hour), LastUsedAt: now,
		}
		code := lintel.AuthorizationCode{Hash: secret.Hash(secret.New(secret.AuthorizationCode)), ExpiresAt: now.Add(time.Hour)}
		if err := s.AddCode(ctx, grant, code); err != nil {
			return "", err
		}
		token = secret.New(secret.AccessToken)
		_, err := s.RedeemCode(ctx, code.Hash, lintel.Issue{
			At: now, AccessID: lintel.NewID(), AccessHash: secret.Hash(token), AccessScopes: grant.Scopes, AccessExpiresAt: grant.ExpiresAt,
			RefreshHash: secret.Hash(secret.New(secret.RefreshToken)), RefreshExpiresAt: grant.ExpiresAt,
		})
		if err != nil {
			return "", err
		}
	}
	return token, nil
}
