package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/listeners"
	"github.com/mochi-mqtt/server/v2/packets"
)

// brokerFloor is the least that a toggle's way to a controller and back can
// cost: a bare MQTT server here, one client of the simulator's library over
// TCP, no meaning, no storage, and no other process.
type brokerFloor struct {
	server  *mqtt.Server
	device  paho.Client
	client  *mqtt.Client // the device's connection, on the server's side
	answers chan struct{}
}

const (
	floorDevice  = "floor"
	floorCommand = "floor/cmd"
	floorAnswer  = "floor/ack"
)

// Payloads are as long as a command and its answer.
var (
	floorOrder = bytes.Repeat([]byte("c"), 180)
	floorReply = bytes.Repeat([]byte("a"), 110)
)

func newBrokerFloor() (*brokerFloor, error) {
	f := &brokerFloor{answers: make(chan struct{}, 1)}
	f.server = mqtt.New(&mqtt.Options{Logger: slog.New(slog.DiscardHandler)})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	err = errors.Join(f.server.AddHook(&floorHook{answers: f.answers}, nil),
		f.server.AddListener(listeners.NewNet("floor", listener)), f.server.Serve())
	if err == nil {
		err = f.connect(listener.Addr().String())
	}
	if err != nil {
		return nil, errors.Join(err, f.server.Close())
	}
	return f, nil
}

// connect brings the device up. It answers in the library's own handler.
func (f *brokerFloor) connect(address string) error {
	f.device = paho.NewClient(paho.NewClientOptions().AddBroker("tcp://" + address).SetClientID(floorDevice).SetAutoReconnect(false))
	reply := func(c paho.Client, _ paho.Message) { c.Publish(floorAnswer, 0, false, floorReply) }
	for _, token := range []func() paho.Token{
		f.device.Connect,
		func() paho.Token { return f.device.Subscribe(floorCommand, 0, reply) },
	} {
		t := token()
		if !t.WaitTimeout(5 * time.Second) {
			return errors.New("the device's MQTT library did not answer in 5 s")
		}
		if err := t.Error(); err != nil {
			return err
		}
	}
	var ok bool
	if f.client, ok = f.server.Clients.Get(floorDevice); !ok {
		return errors.New("the device is not connected")
	}
	return nil
}

// run makes n round trips, one in flight.
func (f *brokerFloor) run(ctx context.Context, n int) (spread, error) {
	times := make([]time.Duration, 0, n)
	for range n {
		began := time.Now()
		err := f.client.WritePacket(packets.Packet{
			FixedHeader: packets.FixedHeader{Type: packets.Publish}, TopicName: floorCommand, Payload: floorOrder,
		})
		if err != nil {
			return spread{}, fmt.Errorf("broker round trip: %w", err)
		}
		select {
		case <-f.answers:
		case <-ctx.Done():
			return spread{}, ctx.Err()
		}
		times = append(times, time.Since(began))
	}
	return spreadOf(times), nil
}

func (f *brokerFloor) close() error {
	f.device.Disconnect(50)
	return f.server.Close()
}

// floorHook lets everybody in, and takes answers where the service takes them.
type floorHook struct {
	mqtt.HookBase
	answers chan<- struct{}
}

func (h *floorHook) ID() string { return "floor" }

func (h *floorHook) Provides(event byte) bool {
	return event == mqtt.OnConnectAuthenticate || event == mqtt.OnACLCheck || event == mqtt.OnPublish
}

func (h *floorHook) OnConnectAuthenticate(*mqtt.Client, packets.Packet) bool { return true }

func (h *floorHook) OnACLCheck(*mqtt.Client, string, bool) bool { return true }

// OnPublish takes an answer and keeps the server from routing it.
func (h *floorHook) OnPublish(_ *mqtt.Client, pk packets.Packet) (packets.Packet, error) {
	h.answers <- struct{}{}
	return pk, packets.CodeSuccessIgnore
}
