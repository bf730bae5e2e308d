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
		Note: "Token check: hash, row, decision, through the store package in this process, among 1000 tokens in SQLite; nothing is cached.",
	})
	return nil
}

// fillTokens stores an account with tokens and returns the last of them.
func fillTokens(ctx context.Context, s *store.Store) (token string, err error) {
	now := time.Now()
	person := lintel.Person{ID: lintel.NewID(), Email: "token@bench.example", CreatedAt: now}
	if err := s.AddPerson(ctx, person, ""); err != nil {
		return "", err
	}
	for range otherTokens {
		token = secret.New(secret.AccessToken)
		err := s.AddToken(ctx, store.Token{
			ID: lintel.NewID(), Hash: secret.Hash(token), PersonID: person.ID, Scopes: lintel.ScopeOpen | lintel.ScopeClose,
			CreatedAt: now, ExpiresAt: now.Add(time.Hour),
		})
		if err != nil {
			return "", err
		}
	}
	return token, nil
}
