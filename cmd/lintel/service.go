package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"lintel/account"
	"lintel/api"
	"lintel/bridge"
	"lintel/broker"
	"lintel/config"
	"lintel/control"
	"lintel/enrol"
	"lintel/httpapi"
	"lintel/link"
	"lintel/oauth"
	"lintel/protocol"
	"lintel/store"
	"lintel/web"
)

// service is the whole program in one value: several can run in one process.
type service struct {
	store    *store.Store
	control  *control.Service
	accounts *account.Service
	baseURL  string // where it serves HTTP
	origin   string // where people and apps reach it
	mqtt     string // address of the MQTT endpoint

	broker   *broker.Broker
	bridge   *bridge.Bridge
	registry *registry
	upstream upstreamClient
	http     *http.Server
	failed   chan error // an end of serving that nobody asked for
	clocks   clocks
	log      *slog.Logger

	stopCleaning context.CancelFunc
	cleaning     sync.WaitGroup
}

// clocks are the two that a service goes by.
type clocks struct {
	wall   func() time.Time // for what is recorded and shown; may step
	steady func() time.Time // for deadlines; never does, see steadyClock
}

// systemClocks are this machine's.
func systemClocks() clocks { return clocks{time.Now, steadyClock()} }

// steadyClock returns a clock that starts at the wall clock's time, never steps
// and goes on while the machine is suspended: deadlines are judged by it.
func steadyClock() func() time.Time {
	wall, boot := time.Now(), sinceBoot()
	return func() time.Time { return wall.Add(sinceBoot() - boot) }
}

// startService opens the database, listens, and serves.
func startService(ctx context.Context, cfg config.Config, c clocks, log *slog.Logger) (s *service, err error) {
	tlsConfig, err := serverTLS(cfg)
	if err != nil {
		return nil, err
	}
	on, err := listenAll(cfg, tlsConfig)
	if err != nil {
		return nil, err
	}
	base := baseURL(cfg.HTTP, on.http, tlsConfig)
	s = &service{baseURL: base, origin: cmp.Or(cfg.PublicURL, base), mqtt: on.mqtt.Addr().String(), failed: make(chan error, 1), clocks: c, log: log}
	defer func() {
		if err != nil {
			err = errors.Join(err, on.close())
		}
	}()
	if err := s.open(ctx, cfg); err != nil {
		return nil, err
	}
	if err := s.serve(ctx, cfg, on); err != nil {
		return nil, errors.Join(err, s.store.Close())
	}
	return s, nil
}

// open opens the store and settles what an earlier run left behind.
func (s *service) open(ctx context.Context, cfg config.Config) error {
	var err error
	if s.store, err = openStore(ctx, cfg); err != nil {
		return err
	}
	abandoned, err := s.store.AbandonCommands(ctx, s.clocks.wall())
	if err != nil {
		return errors.Join(err, s.store.Close())
	}
	if abandoned > 0 {
		s.log.Warn("commands of an earlier run had no recorded outcome", "count", abandoned)
	}
	return nil
}

// serve wires the parts together: httpapi -> control -> link -> broker, and back.
func (s *service) serve(ctx context.Context, cfg config.Config, on listening) error {
	wall, steady := s.clocks.wall, s.clocks.steady
	l := link.New(wall, steady, s.log)
	s.control = control.New(control.Config{Deadline: cfg.Deadline, Now: wall, Steady: steady, Log: s.log}, s.store, l)
	l.Bind(s.control)
	var err error
	if s.registry, err = newRegistry(ctx, s.store); err != nil {
		return err
	}
	s.bridge = bridge.New(l, s.registry, cfg.Deadline, steady, s.log)
	s.broker, err = broker.New(s.registry, secondConnections{s.bridge, s.store, wall, s.log}, broker.Topics{
		Topic: protocol.Topic, Up: protocol.Up, Down: protocol.Down, Will: protocol.TopicWill,
	}, broker.DefaultLimits(), s.log)
	if err != nil {
		return err
	}
	handler, err := s.handler(cfg)
	if err != nil {
		return errors.Join(err, s.broker.Close())
	}
	if err := s.serveMQTT(on); err != nil {
		return errors.Join(err, s.broker.Close())
	}
	if err := s.startUpstream(cfg, steady); err != nil {
		return errors.Join(err, s.broker.Close())
	}
	s.http = &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      3*cfg.Deadline + 30*time.Second, // a turn, the controller, and the disk at its worst
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	s.keepClean()
	go func() {
		if err := s.http.Serve(on.http); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- fmt.Errorf("HTTP ended: %w", err)
		}
	}()
	return nil
}

// handler puts the fronts together: the API, the authorization server, and the
// pages. Until there is an account there is only the page that makes one.
func (s *service) handler(cfg config.Config) (http.Handler, error) {
	source := sourceOf(cfg.TrustedProxies)
	apiHandler, err := httpapi.New(httpapi.Config{
		HardwareName: cfg.HardwareName, Source: source, Now: s.clocks.wall, Log: s.log, MQTT: s.mqttForClaims(cfg),
		Claims: enrol.New(enrol.Config{Now: s.clocks.wall, Log: s.log}, s.store),
	}, s.control, s.store)
	if err != nil {
		return nil, err
	}
	s.accounts, err = account.New(account.Config{Origin: s.origin, Name: "Lintel", Now: s.clocks.wall, Log: s.log}, s.store)
	if err != nil {
		return nil, err
	}
	authorization := oauth.New(oauth.Config{
		Issuer: s.origin, Source: source, Now: s.clocks.wall, Log: s.log,
	}, s.store)
	pages, err := web.New(web.Config{Origin: s.origin, Source: source, Now: s.clocks.wall, Log: s.log}, s.accounts, authorization, s.store)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", pages.Missing(apiHandler))
	authorization.Routes(mux)
	pages.Routes(mux)
	return pages.Gate(clean(mux)), nil
}

// mqttForClaims is where hardware that has claimed a controller is to connect.
func (s *service) mqttForClaims(cfg config.Config) api.V2MQTT {
	_, port, _ := net.SplitHostPort(s.mqtt) // as the listener gave it
	number, _ := strconv.Atoi(port)
	return api.V2MQTT{Port: number, TLS: cfg.TLSCert != ""}
}

// clean answers an address that is not in its plain form like one that does not
// exist. The mux would redirect it, and put what it carries into the answer: old
// apps send secrets in addresses.
func clean(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		plain := path.Clean(r.URL.Path)
		if plain != "/" && strings.HasSuffix(r.URL.Path, "/") {
			plain += "/"
		}
		if r.URL.Path != plain {
			r = r.Clone(r.Context())
			r.URL = &url.URL{Path: "/no such address"}
		}
		next.ServeHTTP(w, r)
	})
}

// cleanEvery is the pause between two rounds of deleting what is long over, and
// checkEvery between two looks at credentials that were changed beside the service.
const (
	cleanEvery = time.Hour
	checkEvery = time.Second / 2
)

// keepClean deletes what is long over, and ends connections of controllers whose
// credentials were changed, until close.
func (s *service) keepClean() {
	ctx, cancel := context.WithCancel(context.Background())
	s.stopCleaning = cancel
	s.cleaning.Go(func() { every(ctx, cleanEvery, s.expunge) })
	s.cleaning.Go(func() { every(ctx, checkEvery, s.endOutdated) })
}

func every(ctx context.Context, pause time.Duration, do func(ctx context.Context)) {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			do(ctx)
		case <-ctx.Done():
			return
		}
	}
}

func (s *service) expunge(ctx context.Context) {
	if err := s.store.Expunge(ctx, s.clocks.wall()); err != nil && ctx.Err() == nil {
		s.log.Warn("what is long over could not be deleted", "error", err)
	}
}

// endOutdated ends connections of controllers whose credentials were changed beside the
// service.
func (s *service) endOutdated(ctx context.Context) {
	outdated, err := s.registry.outdated(ctx, s.clocks.steady(), s.broker.Live)
	if err != nil && ctx.Err() == nil {
		s.log.Error("changed credentials cannot be looked up", "error", err)
	}
	for _, id := range outdated {
		if s.broker.End(id) {
			s.log.Info("a controller's credentials were changed: its connection is ended", "controller", id)
		}
	}
}

// close stops taking requests, waits for those under way, and closes the rest.
func (s *service) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.http.WriteTimeout)
	defer cancel()
	err := s.http.Shutdown(ctx)
	s.control.Stop()
	s.stopCleaning()
	s.cleaning.Wait()
	s.upstream.close()
	err = errors.Join(err, s.broker.Close())
	s.bridge.Wait()
	return errors.Join(err, s.store.Close())
}

func serverTLS(cfg config.Config) (*tls.Config, error) {
	if cfg.TLSCert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(cfg.TLSCert, cfg.TLSKey)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert and --tls-key: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// baseURL is the address of the HTTP listener, by the host that the option
// names. A listener on every address is named as localhost.
func baseURL(option string, l net.Listener, tlsConfig *tls.Config) string {
	scheme := "http://"
	if tlsConfig != nil {
		scheme = "https://"
	}
	host, _, _ := net.SplitHostPort(option) // checked by config
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if a, err := netip.ParseAddr(host); host == "" || err == nil && a.IsUnspecified() {
		host = "localhost"
	}
	return scheme + net.JoinHostPort(host, port)
}
