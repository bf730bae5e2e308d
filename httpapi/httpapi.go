// Package httpapi serves the public HTTP API: bearer tokens, request bodies and
// answers. It decides nothing about doors; control does.
package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"lintel"
	"lintel/access"
	"lintel/api"
	"lintel/control"
	"lintel/store"
)

// Doors moves doors and knows their states. control.Service implements it.
type Doors interface {
	Move(ctx context.Context, r control.Request) (control.Receipt, error)
	State(d lintel.Door) (state lintel.DoorState, fresh bool)
}

// Store reads what the API lists.
type Store interface {
	// Subject reads the bearer of a token; nil when there is none.
	Subject(ctx context.Context, tokenHash string) (*access.Subject, error)
	// Devices lists a person's controllers with their doors.
	Devices(ctx context.Context, person lintel.ID) ([]store.Device, error)
	// Toggles lists the history of a person's doors, the latest first.
	Toggles(ctx context.Context, q store.ToggleQuery) ([]store.Toggle, error)
	// Person is CodeNotFound for nobody.
	Person(ctx context.Context, id lintel.ID) (lintel.Person, error)
}

// Config configures the API.
type Config struct {
	HardwareName string // stands in messages where no controller is known
	Claims       Claims
	MQTT         api.V2MQTT                     // where claimed hardware is to connect
	Source       func(*http.Request) netip.Addr // where a request came from
	Now          func() time.Time
	Log          *slog.Logger
}

// New returns the handler of the whole API.
func New(cfg Config, doors Doors, reads Store) (http.Handler, error) {
	v := &v1{cfg: cfg, doors: doors, store: reads}
	mux := http.NewServeMux()
	mux.Handle(api.V1Toggle, v.route(v.toggle, http.MethodPost))
	mux.Handle(api.V1Sync, v.route(v.sync, http.MethodGet, http.MethodHead, http.MethodPost))
	mux.Handle(api.V1ToggleHistory, v.route(v.toggleHistory, http.MethodGet))
	mux.Handle(api.V1UserInfo, v.route(v.userInfo, http.MethodGet))
	mux.Handle(api.V2Claims, v.route(v.claims))
	mux.Handle("/", v.route(v.unknown))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", jsonType)
		_, _ = w.Write([]byte("{\"ok\":true}\n"))
	})
	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(minCompressed))
	if err != nil {
		return nil, err
	}
	return headers(compress(mux)), nil
}

// minCompressed is the size in bytes from which compression saves a packet.
const minCompressed = 1400

const jsonType = "application/json; charset=utf-8"

// headers sets what every answer carries.
func headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store") // a door's state may not be cached
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		next.ServeHTTP(w, r)
	})
}
