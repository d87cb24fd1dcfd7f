package main

import (
	"sync"

	"github.com/gofiber/contrib/websocket"
	"github.com/gofiber/fiber/v2"
)

// clientKey is the key of a connection's client among the locals of its request.
const clientKey = "client"

// hub is the set of connected clients.
type hub struct {
	mu      sync.RWMutex
	clients map[*client]struct{}
	topics
}

func newHub() *hub {
	return &hub{clients: make(map[*client]struct{}), topics: topics{members: make(subscriptions)}}
}

func (h *hub) remove(c *client) {
	h.mu.Lock()
	delete(h.clients, c)
	h.mu.Unlock()
	h.unsubscribeAll(c)
}

// publish returns when the message is queued on every connection, which is what
// the ack rule of docs/protocol.md asks for. It keeps data.
func (h *hub) publish(kind int, data []byte) {
	m := prepare(kind, data)
	h.mu.RLock()
	defer h.mu.RUnlock()
	for c := range h.clients {
		c.queue(m)
	}
}

// join adds the client before its handshake is answered. One that is added when
// its handler runs would miss a broadcast that another client sends as soon as
// this one has read the answer.
func (h *hub) join(request *fiber.Ctx) error {
	c := newClient()
	request.Locals(clientKey, c)
	h.mu.Lock()
	h.clients[c] = struct{}{}
	h.mu.Unlock()
	err := request.Next()
	if err != nil || request.Response().StatusCode() != fiber.StatusSwitchingProtocols {
		h.remove(c)
	}
	return err
}

// serve has the connection's messages answered until it ends.
func (h *hub) serve(conn *websocket.Conn) {
	c := conn.Locals(clientKey).(*client)
	defer h.remove(c)
	c.open(conn)
	defer c.finish()
	for {
		kind, data, ok := c.read()
		if !ok {
			return
		}
		if kind == websocket.BinaryMessage {
			h.binary(c, data)
		} else {
			h.text(c, data)
		}
	}
}

// rawEcho sends every message back as it came, for Autobahn|Testsuite.
func rawEcho(conn *websocket.Conn) {
	c := newClient()
	c.open(conn)
	defer c.finish()
	for {
		kind, data, ok := c.read()
		if !ok {
			return
		}
		c.send(kind, data)
	}
}
