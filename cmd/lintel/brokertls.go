package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/spf13/pflag"
)

// brokerTLS are the flags of a command that connects to an MQTT endpoint.
type brokerTLS struct {
	use bool
	ca  string
}

func (f *brokerTLS) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.use, "tls", false, "Connect with TLS.")
	flags.StringVar(&f.ca, "tls-ca", "", "PEM file with the authority to trust instead of the system's; implies --tls.")
}

// config returns nil for plain TCP. known is the authority, in PEM, to trust where the
// flags name none; empty for the system's.
func (f *brokerTLS) config(known string) (*tls.Config, error) {
	if f.ca == "" && !f.use {
		return nil, nil
	}
	if f.ca != "" {
		text, err := os.ReadFile(f.ca)
		if err != nil {
			return nil, fmt.Errorf("--tls-ca: %w", err)
		}
		known = string(text)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if known == "" {
		return config, nil
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM([]byte(known)) {
		return nil, fmt.Errorf("--tls-ca %s holds no certificate", f.ca)
	}
	return config, nil
}
