package main

import (
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gofiber/contrib/websocket"
)

const (
	maxMessage = 16 << 20 // bytes, docs/protocol.md, "Limits"
	maxQueued  = 64 << 20 // bytes, the same
)

// closeGrace is how long what is queued may take at the end of a connection.
const closeGrace = 2 * time.Second

// client is one connection. Any goroutine may send to it; a goroutine of its own
// writes what is in its outbox, so that no send waits for the peer.
type client struct {
	mu      sync.Mutex
	conn    *websocket.Conn // nil before its handshake is answered
	cut     bool            // what waited has been too much
	out     *outbox
	written chan struct{} // closed when nothing writes any more

	topics map[string]struct{} // what it is subscribed to; nil before its first
}

func newClient() *client {
	return &client{out: newOutbox(), written: make(chan struct{})}
}

// open is called when the handshake has been answered. What was queued before is
// written now.
func (c *client) open(conn *websocket.Conn) {
	c.mu.Lock()
	c.conn = conn
	if c.cut {
		c.expire()
	}
	c.mu.Unlock()
	conn.SetReadLimit(maxMessage)
	conn.SetCloseHandler(func(code int, _ string) error {
		c.close(code) // behind what was sent before
		return nil
	})
	go c.write()
}

// read is the next message, or false at the end of the connection.
func (c *client) read() (int, []byte, bool) {
	kind, data, err := c.conn.ReadMessage()
	if err != nil {
		return 0, nil, false
	}
	// The library leaves UTF-8 to the application (RFC 6455, section 8.1).
	if kind == websocket.TextMessage && !utf8.Valid(data) {
		c.close(websocket.CloseInvalidFramePayloadData)
		return 0, nil, false
	}
	return kind, data, true
}

// send keeps data.
func (c *client) send(kind int, data []byte) {
	c.queue(outgoing{kind: kind, data: data, size: len(data)})
}

// queue puts a message into the outbox. A client that has not read what was put
// there before is cut off.
func (c *client) queue(m outgoing) {
	if !c.out.put(m) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.cut = true
		if c.conn != nil {
			c.expire()
		}
	}
}

// expire ends what waits for the peer. fasthttp closes the connection when its
// handler has returned, and not before.
func (c *client) expire() {
	c.conn.NetConn().SetDeadline(time.Now())
}

func (c *client) close(code int) {
	c.send(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""))
}

// write writes what is in the outbox until that or the connection ends.
func (c *client) write() {
	defer close(c.written)
	var messages []outgoing
	for {
		messages = c.out.take(messages)
		if len(messages) == 0 {
			return
		}
		for i, m := range messages {
			if m.writeTo(c.conn) != nil {
				c.out.end()
				return
			}
			c.out.wrote(m.size)
			messages[i] = outgoing{}
		}
	}
}

// finish returns when nothing writes any more: the connection is then given back
// to the middleware's pool.
func (c *client) finish() {
	timer := time.AfterFunc(closeGrace, c.expire)
	defer timer.Stop()
	c.out.end()
	<-c.written
}
