package main

import (
	"sync"

	"github.com/lesismal/nbio/nbhttp/websocket"
)

// client is one connection. Any goroutine may send to it; no send waits for the
// peer, since the library keeps what the socket does not take.
type client struct {
	handshake sync.Mutex      // held until the handshake has been answered
	conn      *websocket.Conn // nil when it has failed

	topics map[string]struct{} // what it is subscribed to; nil before its first
}

func (c *client) send(kind websocket.MessageType, data []byte) {
	c.conn.WriteMessage(kind, data)
}

// deliver waits for the client's handshake.
func (c *client) deliver(kind websocket.MessageType, data []byte) {
	c.handshake.Lock()
	defer c.handshake.Unlock()
	if c.conn != nil {
		c.send(kind, data)
	}
}
