package main

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/net/websocket"
)

// client is one connection. Any goroutine may send to it; no send waits for the
// peer (conn.Write), and none reports an error: the reader meets it too.
type client struct {
	conn halfCloser

	mu     sync.Mutex
	ws     *websocket.Conn // nil when the handshake has failed
	closed bool            // a close frame has been sent; nothing may follow it

	topics map[string]struct{} // what it is subscribed to; nil before its first

	// Of the idiomatic variant (room.go), nil otherwise.
	out     *outbox
	written chan struct{} // closed when nothing writes any more
}

// halfCloser is a conn, or the TCP connection itself in the idiomatic variant.
type halfCloser interface {
	net.Conn
	CloseWrite() error
}

// send may keep m.
func (c *client) send(m *message) {
	if c.out != nil {
		c.queue(m)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ws == nil || c.closed {
		return
	}
	c.closed = m.opcode == websocket.CloseFrame
	if !c.conn.(*conn).postpone(m) {
		codec.Send(c.ws, m)
	}
}

// resume writes messages that were postponed.
func (c *client) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	tcp := c.conn.(*conn)
	for m := tcp.next(); m != nil; m = tcp.next() {
		codec.Send(c.ws, m)
	}
}

// read has c's messages answered until the connection ends, and sends the close
// frame if that end asks for one.
func (c *client) read(answer func(*client, *message)) {
	for {
		m, err := receive(c.ws)
		if err != nil {
			var closing closeError
			if errors.As(err, &closing) {
				c.send(&message{websocket.CloseFrame, closing.payload})
			}
			return
		}
		answer(c, m)
	}
}

// finish ends the connection after its last message was read. Closing a socket
// that holds unread input resets it, and the peer may then never see the close
// frame; so the sending half is closed first and the input read to its end. The
// library closes the socket when its handler returns.
func (c *client) finish() {
	if c.out != nil {
		c.conn.SetWriteDeadline(time.Now().Add(closeGrace))
		c.out.end()
		<-c.written
	}
	if c.conn.CloseWrite() == nil {
		c.conn.SetReadDeadline(time.Now().Add(closeGrace))
		io.Copy(io.Discard, c.conn)
	}
}
