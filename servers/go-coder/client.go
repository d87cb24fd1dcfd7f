package main

import (
	"context"
	"sync"
	"unicode/utf8"

	"github.com/coder/websocket"
)

const maxMessage = 16 << 20 // bytes, docs/protocol.md, "Limits"

// client is one connection: the goroutine of read, and that of write.
type client struct {
	out outbox

	mu      sync.Mutex
	conn    *websocket.Conn // nil until the handshake has been answered
	tooSlow bool

	topics map[string]struct{} // what it is subscribed to; nil before its first
}

func newClient() *client {
	c := &client{}
	c.out.filled.L = &c.out.mu
	return c
}

// send queues a message. A client that has not read what was queued before is cut
// off.
func (c *client) send(kind websocket.MessageType, data []byte) {
	if !c.out.put(message{kind, data}) {
		go c.cutOff()
	}
}

func (c *client) cutOff() {
	c.mu.Lock()
	c.tooSlow = true
	conn := c.conn
	c.mu.Unlock()
	if conn != nil {
		conn.CloseNow()
	}
}

// opened reports false if the client has been cut off already.
func (c *client) opened(conn *websocket.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = conn
	return !c.tooSlow
}

// write writes what is queued until the outbox or the connection ends.
func (c *client) write() {
	var messages []message
	for {
		messages = c.out.take(messages)
		if len(messages) == 0 {
			return
		}
		for i, m := range messages {
			if c.conn.Write(context.Background(), m.kind, m.data) != nil {
				c.out.end()
				return
			}
			c.out.wrote(len(m.data))
			messages[i] = message{}
		}
	}
}

// read has c's messages answered until the connection ends. The library has then
// sent the close frame that the end asks for.
func (c *client) read(answer func(c *client, kind websocket.MessageType, data []byte)) {
	for {
		kind, data, err := c.conn.Read(context.Background())
		if err != nil {
			return
		}
		// The library leaves UTF-8 to the application (RFC 6455, section 8.1).
		if kind == websocket.MessageText && !utf8.Valid(data) {
			c.conn.Close(websocket.StatusInvalidFramePayloadData, "")
			return
		}
		answer(c, kind, data)
	}
}
