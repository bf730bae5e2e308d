package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"lintel"
	"lintel/broker"
	"lintel/driver"
	"lintel/driver/esphome"
	"lintel/driver/garadget"
	"lintel/driver/opengarage"
	"lintel/driver/ratgdo"
	"lintel/driver/shelly"
	"lintel/driver/tasmota"
	"lintel/secret"
	"lintel/store"
)

// drivers are all that this program has.
func drivers() []driver.Driver {
	return []driver.Driver{
		ratgdo.New(), esphome.New(), opengarage.New(), garadget.New(), tasmota.New(), shelly.New(), shelly.NewGen1(),
	}
}

func driverNames() string {
	var names []string
	for _, d := range drivers() {
		names = append(names, d.Name())
	}
	return strings.Join(names, ", ")
}

func driverNamed(name string) (driver.Driver, error) {
	all := drivers()
	i := slices.IndexFunc(all, func(d driver.Driver) bool { return d.Name() == name })
	if i < 0 {
		return nil, &lintel.Error{Code: lintel.CodeInvalid, Message: fmt.Sprintf("there is no driver %q; there are %s", name, driverNames())}
	}
	return all[i], nil
}

// registry finds controllers' secrets, drivers and settings in the store.
type registry struct {
	store *store.Store

	// Of outdated alone.
	revision int64 // of the last change of credentials that was seen
	recent   map[lintel.ID]time.Time
}

// newRegistry comes before the first connection.
func newRegistry(ctx context.Context, s *store.Store) (*registry, error) {
	revision, err := s.CredentialsRevision(ctx)
	return &registry{store: s, revision: revision, recent: map[lintel.ID]time.Time{}}, err
}

// recentFor is how long a controller is looked at after its credentials were changed. One
// that showed the old secret just before is announced a little later.
const recentFor = time.Minute

// outdated returns the controllers whose live connection has shown what is no longer
// their secret. live returns the digest of what one has shown; steady is a clock that
// never steps.
func (r *registry) outdated(ctx context.Context, steady time.Time, live func(lintel.ID) (string, bool)) (found []lintel.ID, err error) {
	changed, last, err := r.store.CredentialsChanged(ctx, r.revision)
	if err != nil {
		return nil, err
	}
	r.revision = last
	for _, id := range changed {
		r.recent[id] = steady
	}
	for id, at := range r.recent {
		hash, _, _, hashErr := r.store.ControllerSecretHash(ctx, id)
		gone := lintel.CodeOf(hashErr) == lintel.CodeNotFound
		if hashErr != nil && !gone {
			err = hashErr // and it is looked at again
			continue
		}
		if shown, ok := live(id); ok && (gone || hash != shown) {
			found = append(found, id)
		}
		if steady.Sub(at) > recentFor {
			delete(r.recent, id)
		}
	}
	return found, err
}

// AuthenticateController implements broker.Authenticator.
func (r *registry) AuthenticateController(ctx context.Context, id lintel.ID, given string) (broker.Rules, bool, error) {
	if !secret.Is(secret.ControllerSecret, given) {
		return broker.Rules{}, false, nil
	}
	hash, name, settings, err := r.store.ControllerSecretHash(ctx, id)
	if lintel.CodeOf(err) == lintel.CodeNotFound {
		return broker.Rules{}, false, nil
	}
	if err != nil || hash != secret.Hash(given) { // hashes of random secrets: nothing to learn from the time it takes
		return broker.Rules{}, false, err
	}
	if name == "" {
		return broker.Rules{Mark: hash}, true, nil
	}
	kind, chosen, err := readDriver(name, settings)
	if err != nil || chosen.Upstream { // one that stays at the owner's broker has no business here
		return broker.Rules{}, false, err
	}
	topics := kind.Topics(chosen)
	return broker.Rules{Publish: topics.Publish, Subscribe: topics.Subscribe, Mark: hash}, true, nil
}

// Device implements bridge.Devices.
func (r *registry) Device(ctx context.Context, id lintel.ID) (driver.Driver, driver.Settings, error) {
	_, name, settings, err := r.store.ControllerSecretHash(ctx, id)
	if err != nil {
		return nil, driver.Settings{}, err
	}
	return readDriver(name, settings)
}

// readDriver reads what enrolment stored.
func readDriver(name, settings string) (driver.Driver, driver.Settings, error) {
	var s driver.Settings
	kind, err := driverNamed(name)
	if err == nil {
		err = json.Unmarshal([]byte(settings), &s)
	}
	if err == nil {
		err = kind.Check(s)
	}
	return kind, s, err
}
