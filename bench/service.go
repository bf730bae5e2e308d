package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	_ "modernc.org/sqlite" // to look into the service's database from outside
)

// service is a running "lintel serve" with its own data directory.
type service struct {
	*process
	bench *bench
	data  string
	http  string // address
	mqtt  string // address
	db    *sql.DB
	fleet []*process
}

// serve starts a service with an empty database and waits until it answers.
func (b *bench) serve(ctx context.Context) (*service, error) {
	data, err := os.MkdirTemp(b.dir, "data-")
	if err != nil {
		return nil, err
	}
	s := &service{bench: b, data: data}
	if s.http, s.mqtt, err = freeAddresses(); err != nil {
		return nil, err
	}
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	dsn := url.URL{Scheme: "file", OmitHost: true, Path: filepath.Join(data, "lintel.db"), RawQuery: "mode=ro&_pragma=busy_timeout(5000)"}
	if s.db, err = sql.Open("sqlite", dsn.String()); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// begin starts the process, again after an end with the same data and addresses,
// and returns once it answers.
func (s *service) begin(ctx context.Context) error {
	var err error
	s.process, err = s.bench.start(ctx, "serve", "--http", s.http, "--mqtt", s.mqtt, "--data", s.data)
	if err != nil {
		return err
	}
	err = until(ctx, readyPoll, 20*time.Second, "the service to answer", func() (bool, error) { return s.ready(), nil })
	if err != nil {
		return errors.Join(err, s.stop(), errors.New(s.tail()))
	}
	return nil
}

// readyPoll is how exactly the time from start to ready is known.
const readyPoll = 500 * time.Microsecond

// ready reports whether the service answers /healthz on a new connection.
func (s *service) ready() bool {
	c, err := dial(s.http)
	if err != nil {
		return false
	}
	defer c.Close()
	answer, err := c.do(request(s.http, "GET", "/healthz", "", "", nil))
	return err == nil && answer.status == 200
}

// close ends the fleet and the service.
func (s *service) close() error {
	var errs []error
	for _, p := range s.fleet {
		errs = append(errs, p.stop())
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	return errors.Join(append(errs, s.stop())...)
}

// freeAddresses returns two loopback addresses that nobody listens on. A service
// that is started again must find its controllers' address free, so it cannot
// choose one each time.
func freeAddresses() (first, second string, err error) {
	a, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	b, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", errors.Join(err, a.Close())
	}
	return a.Addr().String(), b.Addr().String(), errors.Join(a.Close(), b.Close())
}

// account creates an account and returns a token of it.
func (s *service) account(ctx context.Context, email string) (token string, err error) {
	if _, err := s.bench.output(ctx, "user", "add", "--data", s.data, "--email", email); err != nil {
		return "", err
	}
	text, err := s.bench.output(ctx, "token", "create", "--data", s.data, "--user", email, "--scope", "OPENDOOR,CLOSEDOOR,READ", "--json")
	if err != nil {
		return "", err
	}
	var made struct {
		Token string `json:"access_token"`
	}
	return made.Token, json.Unmarshal([]byte(text), &made)
}

// travel is how long a simulated door moves: short, so that every toggle finds
// its door at rest and is a whole movement with all that is reported of it.
const travel = 50 * time.Millisecond

// simulate enrols controllers with doors for an account and runs them in another
// process. It returns before they are connected.
func (s *service) simulate(ctx context.Context, email string, controllers, doors int) error {
	p, err := s.bench.start(ctx, "sim", "--broker", s.mqtt, "--data", s.data, "--user", email, "--travel", travel.String(),
		"--controllers", strconv.Itoa(controllers), "--doors", strconv.Itoa(doors))
	if err != nil {
		return err
	}
	s.fleet = append(s.fleet, p)
	return nil
}

// count runs a query that counts, on the service's database.
func (s *service) count(ctx context.Context, query string, args ...any) (n int, err error) {
	if err := s.db.QueryRowContext(ctx, query, args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("look into the database: %w", err)
	}
	return n, nil
}
