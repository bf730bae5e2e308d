package oauth

import (
	"context"

	"lintel"
	"lintel/secret"
)

// userCodeLength gives 20^8 user codes (RFC 8628 §6.1), 34 bits, for ten minutes.
const userCodeLength = 8

// NormalUserCode returns a user code as a person typed it, in its one form, or
// "" when it cannot be one. Case, dashes and spaces do not matter.
func NormalUserCode(typed string) string { return secret.NormalCode(typed, userCodeLength) }

func userCodeHash(shown string) string { return secret.Hash("user code " + shown) }

// DeviceRequest is a device's request that a person can decide (RFC 8628 §3.3).
type DeviceRequest struct {
	UserCode string // as the device shows it
	Client   lintel.Client
	Scopes   lintel.Scope
	Address  string // where the device's request came from
}

// Device finds the request that a person typed the code of. A code that is
// unknown, over or decided is CodeNotFound.
func (s *Server) Device(ctx context.Context, typed string) (DeviceRequest, error) {
	notFound := &lintel.Error{Code: lintel.CodeNotFound, Message: "this code is not valid, or no longer; look at the device for the present one"}
	code := NormalUserCode(typed)
	if code == "" {
		return DeviceRequest{}, notFound
	}
	d, err := s.store.DeviceByUserCode(ctx, userCodeHash(code))
	if lintel.CodeOf(err) == lintel.CodeNotFound {
		return DeviceRequest{}, notFound
	}
	if err != nil {
		return DeviceRequest{}, err
	}
	if d.State != lintel.DevicePending || !s.cfg.Now().Before(d.ExpiresAt) {
		return DeviceRequest{}, notFound
	}
	client, err := s.store.Client(ctx, d.ClientID)
	if err != nil {
		return DeviceRequest{}, err
	}
	return DeviceRequest{UserCode: code, Client: client, Scopes: d.Scopes, Address: d.Address}, nil
}

// ApproveDevice stores a person's consent to a device's request, with the
// scopes that the person left. Scopes beyond the request's, or none, are
// CodeInvalid; a request that is over or decided is CodeNotFound.
func (s *Server) ApproveDevice(ctx context.Context, typed string, person lintel.ID, scopes lintel.Scope) error {
	d, err := s.Device(ctx, typed)
	if err != nil {
		return err
	}
	if scopes == 0 || !d.Scopes.Has(scopes) {
		return &lintel.Error{Code: lintel.CodeInvalid, Message: "choose at least one of the things the app asked for"}
	}
	now := s.cfg.Now()
	grant := newGrant(person, d.Client.ID, scopes, now)
	if err := s.store.ApproveDevice(ctx, userCodeHash(d.UserCode), grant, now); err != nil {
		return err
	}
	s.cfg.Log.Info("device authorised", "grant", grant.ID, "client", d.Client.ID, "person", person, "scopes", scopes.String())
	return nil
}

// DenyDevice stores that a person refused. A request that is over or decided is
// CodeNotFound.
func (s *Server) DenyDevice(ctx context.Context, typed string) error {
	return s.store.DenyDevice(ctx, userCodeHash(NormalUserCode(typed)), s.cfg.Now())
}
