package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"lintel/api"
	"lintel/client"
)

// garage stands for a server with one door, which is at once where it is asked to be.
func garage() *httptest.Server {
	value, state := "closed", "CLOSED"
	mux := http.NewServeMux()
	mux.HandleFunc(api.V1Sync, func(w http.ResponseWriter, _ *http.Request) { list(w, state, value, true) })
	mux.HandleFunc(api.V1Toggle, func(w http.ResponseWriter, _ *http.Request) {
		value, state = "open", "OPEN"
		envelope(w, http.StatusOK, "200", command, "")
	})
	return httptest.NewServer(mux)
}

func Example() {
	server := garage()
	defer server.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	c, err := client.New(server.URL, client.StaticToken("lta_..."))
	if err != nil {
		fmt.Println(err)
		return
	}
	doors, err := c.Doors(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := c.Open(ctx, doors[0].ID); err != nil {
		fmt.Println(err)
		return
	}
	door, err := c.Await(ctx, doors[0].ID, client.Opened, time.Second, nil)
	fmt.Println(door.Name, "is", door.Value, err)
	// Output: Left door is open <nil>
}

func ExampleClient_Doors() {
	server := garage()
	defer server.Close()
	c, err := client.New(server.URL, client.StaticToken("lta_..."))
	if err != nil {
		fmt.Println(err)
		return
	}
	doors, err := c.Doors(context.Background())
	for _, d := range doors {
		fmt.Println(d.ID, d.Name, d.State, d.Value, d.Since)
	}
	fmt.Println(err)
	// Output:
	// 75d7b309-7f19-4b46-9eac-05d4c61a0319 Left door CLOSED closed 2026-11-21 10:30:00.25 +0000 UTC
	// <nil>
}

// What a program does about a refusal depends on who refused.
func ExampleError() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		envelope(w, http.StatusNotFound, "Sorry, Shed cannot be found. Please unplug it and plug it back in.", command, "offline")
	}))
	defer server.Close()
	c, err := client.New(server.URL, client.StaticToken("lta_..."))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = c.Close(context.Background(), doorID)
	e, ok := errors.AsType[*client.Error](err)
	switch {
	case err == nil:
		fmt.Println("taken")
	case errors.Is(err, client.ErrNoAnswer):
		fmt.Println("the door may move or not; look with Doors")
	case !ok:
		fmt.Println("there is no token:", err)
	case e.TokenRefused():
		fmt.Println("a new token is needed")
	case e.CommandID == "":
		fmt.Println("no controller was told:", e.Message)
	default:
		fmt.Println("the controller did not:", e.Status, e.Reason)
	}
	// Output: the controller did not: 404 offline
}

// With a TokenFunc, tokens come from elsewhere, for example from a TokenSource of
// golang.org/x/oauth2.
func ExampleTokenFunc() {
	server := garage()
	defer server.Close()
	tokens := client.TokenFunc(func(context.Context) (string, error) {
		return "lta_...", nil // t, err := source.Token(); return t.AccessToken, err
	})
	c, err := client.New(server.URL, tokens)
	if err != nil {
		fmt.Println(err)
		return
	}
	receipt, err := c.Open(context.Background(), doorID)
	fmt.Println(receipt.Status, receipt.AlreadyThere(), err)
	// Output: 200 false <nil>
}
