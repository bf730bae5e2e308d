package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"lintel"
	"lintel/config"
	"lintel/driver"
	"lintel/store"
	"lintel/upstream"
)

// Upstream implements upstream.Devices.
func (r *registry) Upstream(ctx context.Context) ([]upstream.Device, error) {
	stored, err := r.store.Driven(ctx)
	if err != nil {
		return nil, err
	}
	var found []upstream.Device
	for _, c := range stored {
		kind, settings, err := readDriver(c.Driver, c.Settings)
		if err == nil && settings.Upstream {
			found = append(found, upstream.Device{ID: c.ID, Driver: kind, Settings: settings})
		}
	}
	return found, nil
}

// upstreamClient is the client at the owner's broker while it runs. The zero value is
// none.
type upstreamClient struct {
	stop    context.CancelFunc
	running sync.WaitGroup
}

// startUpstream begins to connect to the owner's broker, if there is one. It does not
// wait for it: everything else works without.
func (s *service) startUpstream(cfg config.Config, steady func() time.Time) error {
	if cfg.MQTTUpstream == nil {
		return nil
	}
	tlsConfig, err := upstreamTLS(cfg)
	if err != nil {
		return err
	}
	client := upstream.New(upstream.Config{
		Address: cfg.MQTTUpstream.Host, TLS: tlsConfig, Username: cfg.MQTTUpstream.User.Username(), Password: cfg.MQTTUpstreamPassword,
		Now: steady, Log: s.log,
	}, s.registry, s.bridge.Upstream())
	ctx, cancel := context.WithCancel(context.Background())
	s.upstream.stop = cancel
	s.upstream.running.Go(func() { client.Run(ctx) })
	return nil
}

// close ends the client, and the connections of its devices.
func (u *upstreamClient) close() {
	if u.stop != nil {
		u.stop()
	}
	u.running.Wait()
}

// upstreamTLS is nil where the broker is reached in plain text.
func upstreamTLS(cfg config.Config) (*tls.Config, error) {
	if cfg.MQTTUpstream == nil || cfg.MQTTUpstream.Scheme != "tls" {
		return nil, nil
	}
	made := &tls.Config{ServerName: cfg.MQTTUpstream.Hostname(), MinVersion: tls.VersionTLS12}
	if cfg.MQTTUpstreamCA == "" {
		return made, nil
	}
	pem, err := os.ReadFile(cfg.MQTTUpstreamCA)
	if err != nil {
		return nil, fmt.Errorf("--mqtt-upstream-ca: %w", err)
	}
	made.RootCAs = x509.NewCertPool()
	if !made.RootCAs.AppendCertsFromPEM(pem) {
		return nil, errors.New("--mqtt-upstream-ca: the file has no certificate")
	}
	return made, nil
}

// onlyAtTheBroker refuses a device that another controller is already, as far as the
// owner's broker can tell the two apart.
func onlyAtTheBroker(ctx context.Context, s *store.Store, kind driver.Driver, settings driver.Settings) error {
	enrolled, err := (&registry{store: s}).Upstream(ctx)
	if err != nil {
		return err
	}
	for _, other := range enrolled {
		if upstream.SameDoor(kind.Topics(settings), other.Driver.Topics(other.Settings)) {
			return &lintel.Error{Code: lintel.CodeConflict, Message: fmt.Sprintf(
				"controller %s already is the device of these topics at the upstream broker; revoke it first, or give the device topics of its own", other.ID)}
		}
	}
	return nil
}

// hasSecret refuses a controller that has no secret here, because it stays at the
// owner's broker.
func hasSecret(ctx context.Context, s *store.Store, id lintel.ID) error {
	_, name, settings, err := s.ControllerSecretHash(ctx, id)
	if err != nil || name == "" {
		return err
	}
	if _, chosen, err := readDriver(name, settings); err == nil && chosen.Upstream {
		return &lintel.Error{Code: lintel.CodeInvalid, Message: "this device stays at your own broker: change its password there"}
	}
	return nil
}
