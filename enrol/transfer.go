package enrol

import (
	"context"

	"lintel"
	"lintel/secret"
	"lintel/store"
)

// Release offers an owner's controller to whoever has the code that it returns. Until
// it is taken nothing changes, and Keep takes the offer back. CodeNotFound when the
// controller is not the owner's.
func (s *Service) Release(ctx context.Context, controller, owner lintel.ID) (Code, error) {
	if _, err := s.own(ctx, controller, owner); err != nil {
		return Code{}, err
	}
	made, err := s.issue(ctx, releaseKind, subject{controller, owner}, ReleaseFor)
	if err != nil {
		return Code{}, err
	}
	return made, s.note(ctx, controller, lintel.ControllerReleased)
}

// Keep takes the offer of a controller back. CodeNotFound when there is none.
func (s *Service) Keep(ctx context.Context, controller, owner lintel.ID) error {
	if _, err := s.own(ctx, controller, owner); err != nil {
		return err
	}
	n, err := s.store.DropTicketsFor(ctx, releaseKind, subject{controller, owner}.text())
	switch {
	case err != nil:
		return err
	case n == 0:
		return &lintel.Error{Code: lintel.CodeNotFound, Message: "the controller is not offered to anybody"}
	}
	return s.note(ctx, controller, lintel.ControllerKept)
}

func (s *Service) note(ctx context.Context, controller lintel.ID, kind lintel.ControllerEventKind) error {
	return s.store.AddControllerEvent(ctx, lintel.ControllerEvent{
		ID: lintel.NewID(), ControllerID: controller, Kind: kind, At: s.cfg.Now(),
	}, 0)
}

// Taken is a controller under its new owner, with its secret, which is not stored.
type Taken struct {
	lintel.Controller
	Doors  []lintel.Door
	Secret string
}

// Take gives a released controller to a person. It begins anew, with ids and a secret
// of its own: no grant, token, link or history of the old owner's is about it, and the
// old secret is refused. Only its names and the settings of its driver go with it.
// Errors: CodeNotFound, which does not say what is wrong with the code; CodeInvalid
// when the controller is the person's own.
func (s *Service) Take(ctx context.Context, typed string, person lintel.ID) (Taken, error) {
	ticket, about, err := s.find(ctx, releaseKind, typed)
	if err != nil {
		return Taken{}, err
	}
	if about.Owner == person {
		return Taken{}, &lintel.Error{Code: lintel.CodeInvalid, Message: "the controller is this account's already"}
	}
	old, err := s.own(ctx, about.Controller, about.Owner)
	if lintel.CodeOf(err) == lintel.CodeNotFound {
		return Taken{}, errCode
	}
	if err != nil {
		return Taken{}, err
	}
	made := s.anew(old, person)
	err = s.store.TransferController(ctx, ticket, about.Controller, about.Owner, made.Controller, secret.Hash(made.Secret), made.Doors)
	if lintel.CodeOf(err) == lintel.CodeNotFound {
		return Taken{}, errCode
	}
	if err != nil {
		return Taken{}, err
	}
	s.cfg.Log.Info("controller taken over", "controller", made.ID, "owner", person, "was", about.Controller, "of", about.Owner)
	return made, nil
}

func (s *Service) anew(old store.Device, person lintel.ID) Taken {
	made := Taken{Secret: secret.New(secret.ControllerSecret), Controller: lintel.Controller{
		ID: lintel.NewID(), OwnerID: person, Name: old.Name, Driver: old.Driver, Settings: old.Settings, CreatedAt: s.cfg.Now(),
	}}
	for _, d := range old.Doors {
		made.Doors = append(made.Doors, lintel.Door{ID: lintel.NewID(), ControllerID: made.ID, Number: d.Number, Name: d.Name})
	}
	return made
}
