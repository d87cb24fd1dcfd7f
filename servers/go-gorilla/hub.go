package main

import (
	"net/http"
	"sync"

	"github.com/gorilla/websocket"
)

// hub is the set of connected clients. It does not know what they say: answer
// deals with each message.
type hub struct {
	mu      sync.RWMutex
	clients map[*client]struct{}
	answer  func(c *client, kind int, data []byte)
}

func (h *hub) add(c *client) {
	h.mu.Lock()
	h.clients[c] = struct{}{}
	h.mu.Unlock()
}

func (h *hub) remove(c *client) {
	h.mu.Lock()
	delete(h.clients, c)
	h.mu.Unlock()
}

// broadcast returns when the message is on its way to every connection, which is
// what the ack rule of docs/protocol.md asks for.
func (h *hub) broadcast(m *websocket.PreparedMessage) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for c := range h.clients {
		c.sendPrepared(m)
	}
}

// serve upgrades one request and starts the goroutine that reads.
func (h *hub) serve(w http.ResponseWriter, r *http.Request) {
	c := &client{}
	// Upgrade writes the response before it returns the connection. A client
	// that is added only then would miss a broadcast that another one sends as
	// soon as this one has read its response. So broadcasts wait for Upgrade,
	// which does not wait for the peer.
	c.mu.Lock()
	h.add(c)
	conn, err := upgrader.Upgrade(w, r, nil)
	c.conn = conn
	c.mu.Unlock()
	if err != nil {
		h.remove(c)
		return
	}
	conn.SetReadLimit(maxMessage)
	// A new goroutine, so that what the HTTP server allocated for the request
	// can be collected (as in the library's chat example).
	go h.read(c)
}
