package main

import (
	"context"
	"log/slog"
	"time"

	"lintel"
	"lintel/broker"
	"lintel/store"
)

// secondConnections tells the owner of a controller when a connection took the place
// of one that was there: the controller came back before the network noticed that it
// was gone, or somebody else has its secret.
type secondConnections struct {
	broker.Handler
	store *store.Store
	wall  func() time.Time
	log   *slog.Logger
}

// secondEvery is how often an owner is told of the same two addresses at one controller:
// two machines with one secret throw each other off again and again.
const secondEvery = time.Hour

// host is an address without its port, which changes with each connection.
func host(address string) string { return addressOf(address).String() }

// Connected implements broker.Handler.
func (h secondConnections) Connected(c *broker.Connection) {
	h.Handler.Connected(c)
	if c.Replaces == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := h.store.AddControllerEvent(ctx, lintel.ControllerEvent{
		ID: lintel.NewID(), ControllerID: c.Controller, Kind: lintel.SecondConnection, At: h.wall(),
		Detail: "from " + host(c.Remote) + ", in the place of " + host(c.Replaces),
	}, secondEvery)
	if err != nil {
		h.log.Error("a second connection was not recorded", "controller", c.Controller, "error", err)
	}
}
