package oauth

import (
	"net/http"
	"net/url"
	"time"

	"lintel"
	"lintel/limit"
	"lintel/secret"
)

// deviceAnswer is what a device shows and polls with (RFC 8628 §3.2).
type deviceAnswer struct {
	DeviceCode              string `json:"device_code"`
	UserCode                string `json:"user_code"`
	VerificationURI         string `json:"verification_uri"`
	VerificationURIComplete string `json:"verification_uri_complete"`
	ExpiresIn               int64  `json:"expires_in"` // seconds
	Interval                int64  `json:"interval"`   // seconds
}

// authorizeDevice begins the device grant (RFC 8628 §3.1).
func (s *Server) authorizeDevice(r *http.Request) (any, *Error) {
	q, failure := s.read(r, false)
	if failure != nil {
		return nil, failure
	}
	scopes, failure := requestedScopes(q.client, q.parameters)
	if failure != nil {
		return nil, failure
	}
	now, source := s.cfg.Now(), s.cfg.Source(r)
	if wait := s.takeDevice(limit.Network(source), now); wait > 0 {
		return nil, &Error{Code: SlowDown, Description: "too many devices ask from this network", Status: http.StatusTooManyRequests, After: wait}
	}
	for range userCodeRetries {
		code, user := secret.New(secret.DeviceCode), secret.NewCode(userCodeLength)
		err := s.store.AddDeviceCode(r.Context(), lintel.DeviceCode{
			Hash: secret.Hash(code), UserCodeHash: userCodeHash(user), ClientID: q.client.ID, Scopes: scopes,
			Address: source.String(), CreatedAt: now, ExpiresAt: now.Add(deviceLifetime), Pause: devicePause,
		})
		switch lintel.CodeOf(err) {
		case "":
			page := s.cfg.Issuer + PathDevice
			return deviceAnswer{
				DeviceCode: code, UserCode: user, VerificationURI: page,
				VerificationURIComplete: page + "?" + url.Values{"user_code": {user}}.Encode(),
				ExpiresIn:               int64(deviceLifetime.Seconds()), Interval: int64(devicePause.Seconds()),
			}, nil
		case lintel.CodeConflict: // of user codes, which are short
		default:
			return nil, s.internal(r.Context(), err)
		}
	}
	return nil, s.internal(r.Context(), &lintel.Error{Code: lintel.CodeInternal, Message: "no free user code was found"})
}

// takeDevice counts a device of a network and returns 0, or how long it must wait.
func (s *Server) takeDevice(network string, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if wait := s.devices.Wait(network, now); wait > 0 {
		return wait
	}
	s.devices.Take(network, now)
	return 0
}
