package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"lintel/api"
	"lintel/secret"
)

// claimOptions are the flags by which hardware claims its controller.
type claimOptions struct {
	code      string
	server    string
	ca        string // PEM file; empty for the system's authorities. Its content is kept
	plaintext bool
	file      string // where the credentials go
}

// agentCredentials are a controller's credentials with where to use them.
type agentCredentials struct {
	credentials
	Broker string `json:"broker,omitempty"` // host:port; empty where it is not known
	TLS    bool   `json:"tls,omitempty"`
	CA     string `json:"ca,omitempty"` // PEM; empty for the system's authorities
}

// claimLimit is how long redeeming a code may take.
const claimLimit = 30 * time.Second

// claim redeems a one-time code and keeps the credentials. The file is made first, so
// that no code is spent whose credentials have no place, and an existing one is never
// replaced: another controller's may be in it.
func claim(ctx context.Context, o claimOptions) (made agentCredentials, err error) {
	origin, err := o.origin()
	if err != nil {
		return made, err
	}
	if o.code == "" {
		return made, exitf(exitUsage, "--claim is empty; give the code that \"lintel controller add --claim\" printed")
	}
	if _, err := os.Lstat(o.file); !errors.Is(err, fs.ErrNotExist) {
		return made, fmt.Errorf("%s is there already: this machine has claimed a controller; remove the file to claim another", o.file)
	}
	next, err := os.CreateTemp(filepath.Dir(o.file), ".claim-*") // with mode 0600
	if err != nil {
		return made, fmt.Errorf("the credentials cannot be kept: %w", err)
	}
	defer os.Remove(next.Name()) // its other name stays
	defer next.Close()
	if made, err = redeem(ctx, o, origin); err != nil {
		return made, err
	}
	err = json.NewEncoder(next).Encode(made)
	if err = errors.Join(err, next.Sync(), next.Close()); err == nil {
		err = os.Link(next.Name(), o.file) // and not Rename, which would replace what another claim has just kept
	}
	if dir, openErr := os.Open(filepath.Dir(o.file)); openErr == nil {
		_ = dir.Sync() // not every file system can; the file itself is whole
		_ = dir.Close()
	}
	if err != nil {
		return agentCredentials{}, fmt.Errorf("the controller was claimed, but its credentials could not be kept, so have its owner make another code: %w", err)
	}
	return made, nil
}

// origin is the server's address in its one form. A secret crosses no network in plain text.
func (o claimOptions) origin() (string, error) {
	origin, err := parseOrigin(o.server)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(origin, "http://") && !loopback(origin) && !o.plaintext {
		return "", exitf(exitUsage, "%s is plain http to another machine: whoever listens in between gets the controller's secret; use https, or --allow-plaintext if you accept that", origin)
	}
	return origin, nil
}

func redeem(ctx context.Context, o claimOptions, origin string) (agentCredentials, error) {
	r := &remote{origin: origin, caFlag: "--tls-ca"}
	if o.ca != "" {
		text, err := os.ReadFile(o.ca)
		if err != nil {
			return agentCredentials{}, exitf(exitUsage, "--tls-ca: %w", err)
		}
		r.ca = string(text)
	}
	var err error
	if r.http, err = httpClient(r.ca); err != nil {
		return agentCredentials{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, claimLimit)
	defer cancel()
	body, err := json.Marshal(api.V2ClaimRequest{Code: o.code})
	if err != nil {
		return agentCredentials{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, origin+api.V2Claims, bytes.NewReader(body))
	if err != nil {
		return agentCredentials{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := r.http.Do(req)
	if err != nil {
		return agentCredentials{}, r.netError("the code could not be redeemed", err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if err != nil {
		return agentCredentials{}, r.netError("the answer to the code broke off; have its owner make another one", err)
	}
	if res.StatusCode != http.StatusCreated {
		return agentCredentials{}, refusedClaim(origin, res.StatusCode, text)
	}
	made, err := readClaimed(origin, text)
	made.CA = r.ca
	return made, err
}

// refusedClaim is what the server says about a code that it does not take.
func refusedClaim(origin string, status int, text []byte) error {
	var p api.V2Problem
	if json.Unmarshal(text, &p) != nil || p.Detail == "" {
		return fmt.Errorf("%s answers %d to the code; is it a Lintel?", origin, status)
	}
	return fmt.Errorf("%s does not take the code: %s", origin, printable(p.Detail))
}

func readClaimed(origin string, text []byte) (agentCredentials, error) {
	var c api.V2Claimed
	if err := json.Unmarshal(text, &c); err != nil || !secret.Is(secret.ControllerSecret, c.Secret) || c.MQTT.Port < 1 || c.MQTT.Port > 65535 {
		return agentCredentials{}, fmt.Errorf("%s took the code, and its answer is not Lintel's; is something in between?", origin)
	}
	u, err := url.Parse(origin)
	if err != nil {
		return agentCredentials{}, err
	}
	made := agentCredentials{
		credentials: credentials{ControllerID: c.ControllerID, Name: c.Name, Secret: c.Secret, Doors: []doorListed{}},
		Broker:      net.JoinHostPort(u.Hostname(), strconv.Itoa(c.MQTT.Port)), TLS: c.MQTT.TLS,
	}
	for _, d := range c.Doors {
		made.Doors = append(made.Doors, doorListed{d.DoorID, d.Number, d.Name})
	}
	return made, nil
}
