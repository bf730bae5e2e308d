package enrol

import (
	"context"
	"net/netip"
	"time"

	"lintel"
	"lintel/secret"
	"lintel/store"
)

// NewClaim makes a one-time code by which hardware that speaks the controller protocol
// gets the credentials of an owner's controller, in the place of whatever has them. It
// lives for life, up to MaxClaimFor. Errors: CodeNotFound when the controller is not
// the owner's, CodeInvalid.
func (s *Service) NewClaim(ctx context.Context, controller, owner lintel.ID, life time.Duration) (Code, error) {
	if life < time.Minute || life > MaxClaimFor {
		return Code{}, &lintel.Error{Code: lintel.CodeInvalid, Message: "a claim code lives for 1m to " + MaxClaimFor.String()}
	}
	device, err := s.own(ctx, controller, owner)
	switch {
	case err != nil:
		return Code{}, err
	case device.Driver != "":
		return Code{}, &lintel.Error{Code: lintel.CodeInvalid, Message: "a controller with a driver cannot claim: enter its settings on the firmware's own pages"}
	}
	return s.issue(ctx, claimKind, subject{controller, owner}, life)
}

// Claimed is a controller with its new secret, which is not stored.
type Claimed struct {
	store.Device
	Secret string
}

// Claim gives a controller a new secret for a code, once. The old one is refused from
// then on. Errors: CodeNotFound, which does not say what is wrong with the code;
// CodeTooMany, after too many wrong codes from a network.
func (s *Service) Claim(ctx context.Context, typed string, from netip.Addr) (Claimed, error) {
	if err := s.allow(from); err != nil {
		return Claimed{}, err
	}
	ticket, about, err := s.find(ctx, claimKind, typed)
	if err != nil {
		s.cfg.Log.Warn("refused a claim code", "from", from.String()) // ten a minute at the most from a network
		return Claimed{}, err
	}
	made := Claimed{Secret: secret.New(secret.ControllerSecret)}
	err = s.store.ClaimController(ctx, ticket, about.Controller, about.Owner, secret.Hash(made.Secret), lintel.ControllerEvent{
		ID: lintel.NewID(), ControllerID: about.Controller, Kind: lintel.ControllerClaimed, Detail: "from " + from.String(), At: s.cfg.Now(),
	})
	if lintel.CodeOf(err) == lintel.CodeNotFound {
		return Claimed{}, errCode
	}
	if err != nil {
		return Claimed{}, err
	}
	s.forgive(from)
	s.cfg.Log.Info("controller claimed", "controller", about.Controller, "owner", about.Owner, "from", from.String())
	made.Device, err = s.store.Device(ctx, about.Controller)
	return made, err
}

// Rotate gives a controller a new secret, which it returns and which is not stored. The old
// one is refused from then on, and so is every claim code of the controller. An unknown or
// revoked controller is CodeNotFound.
func (s *Service) Rotate(ctx context.Context, controller lintel.ID) (string, error) {
	device, err := s.store.Device(ctx, controller)
	if err != nil {
		return "", err
	}
	codes := subject{controller, device.OwnerID}.text()
	if _, err := s.store.DropTicketsFor(ctx, claimKind, codes); err != nil {
		return "", err
	}
	made := secret.New(secret.ControllerSecret)
	if err := s.store.SetControllerSecret(ctx, controller, secret.Hash(made)); err != nil {
		return "", err
	}
	if _, err := s.store.DropTicketsFor(ctx, claimKind, codes); err != nil { // made in between
		return "", err
	}
	return made, s.note(ctx, controller, lintel.ControllerRotated)
}
