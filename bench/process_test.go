package main

import (
	"testing"
	"time"
)

func TestParseCPU(t *testing.T) {
	const stat = "4242 (a (b) c) S 1 4242 4242 0 -1 4194560 1 2 3 4 150 50 7 8 20 0 9 0 100 200 300"
	got, err := parseCPU(stat)
	if err != nil || got != 2*time.Second {
		t.Errorf("got %s, %v; want 2s", got, err)
	}
	for _, bad := range []string{"", "1 (x) S 1 2", "1 (x) S 1 1 1 0 -1 0 1 2 3 4 many 50 7 8"} {
		if got, err := parseCPU(bad); err == nil {
			t.Errorf("%q was read as %s", bad, got)
		}
	}
}

func TestRequestIsWhatTheServiceReads(t *testing.T) {
	got := string(request("127.0.0.1:80", "POST", "/p", "tok", "gzip", []byte(`{}`)))
	want := "POST /p HTTP/1.1\r\nHost: 127.0.0.1:80\r\nAccept: application/json\r\nAuthorization: Bearer tok\r\n" +
		"Accept-Encoding: gzip\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
	if got != want {
		t.Errorf("got %q", got)
	}
}
