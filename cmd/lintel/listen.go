package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"syscall"

	"lintel/config"
)

// listening is where a service listens.
type listening struct {
	http, mqtt net.Listener
	plain      net.Listener // for devices that know no TLS; nil for none
}

func listenAll(cfg config.Config, tlsConfig *tls.Config) (on listening, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, on.close())
		}
	}()
	if on.http, err = listen("http", cfg.HTTP, tlsConfig); err != nil {
		return on, err
	}
	if on.mqtt, err = listen("mqtt", cfg.MQTT, tlsConfig); err != nil || cfg.MQTTPlain == "" {
		return on, err
	}
	on.plain, err = listen("mqtt-plain", cfg.MQTTPlain, nil)
	return on, err
}

func (l listening) close() error {
	var errs []error
	for _, listener := range []net.Listener{l.http, l.mqtt, l.plain} {
		if listener != nil {
			errs = append(errs, listener.Close())
		}
	}
	return errors.Join(errs...)
}

// serveMQTT has the broker accept controllers.
func (s *service) serveMQTT(on listening) error {
	if err := s.broker.Serve(on.mqtt); err != nil || on.plain == nil {
		return err
	}
	s.log.Info("serving devices without TLS", "mqtt", on.plain.Addr().String())
	return s.broker.ServeForeign(on.plain)
}

func listen(flag, address string, tlsConfig *tls.Config) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is already in use; choose another address with --%s, for example --%s 127.0.0.1:0", address, flag, flag)
	case err != nil:
		return nil, fmt.Errorf("cannot listen on --%s %s: %w", flag, address, err)
	case tlsConfig == nil:
		return l, nil
	}
	return tls.NewListener(l, tlsConfig), nil
}
