package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// conn is one HTTP/1.1 keep-alive connection that carries one request at a time.
// The standard library's client would spend as much processor time and as many
// switches between goroutines as the service that is to be measured.
type conn struct {
	net.Conn
	reader *bufio.Reader
}

// answer is an HTTP response, read.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func dial(address string) (*conn, error) {
	c, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, reader: bufio.NewReader(c)}, nil
}

// requestLimit is how long one request may take.
const requestLimit = 20 * time.Second

// do sends a request as it is and reads the answer.
func (c *conn) do(request []byte) (answer, error) {
	if err := c.SetDeadline(time.Now().Add(requestLimit)); err != nil {
		return answer{}, err
	}
	if _, err := c.Write(request); err != nil {
		return answer{}, err
	}
	res, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, body}, err
}

// request returns the bytes of a request. token and encoding may be empty.
func request(host, method, path, token, encoding string, body []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nAccept: application/json\r\n", method, path, host)
	if token != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", token)
	}
	if encoding != "" {
		fmt.Fprintf(&b, "Accept-Encoding: %s\r\n", encoding)
	}
	if body != nil {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes()
}
