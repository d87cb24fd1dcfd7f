package main

import (
	"net/http"
	"sync"
)

// hub is the set of connected clients. It does no I/O of its own but the
// handshake: a broadcast only queues.
type hub struct {
	mu      sync.RWMutex
	clients map[*client]struct{}
}

func newHub() *hub {
	return &hub{clients: make(map[*client]struct{})}
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

// broadcast queues m on every connection before it returns, which is what the
// ack rule of docs/protocol.md asks for.
func (h *hub) broadcast(m message) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for c := range h.clients {
		c.send(m)
	}
}

// serve upgrades one request and starts the client's two goroutines.
func (h *hub) serve(w http.ResponseWriter, r *http.Request) {
	c := newClient()
	// Upgrade writes the response before it returns the connection. A client
	// that is added only then would miss a broadcast that another one sends as
	// soon as this one has read its response.
	h.add(c)
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		h.remove(c)
		return
	}
	c.attach(conn)
	// New goroutines, so that what the HTTP server allocated for the request
	// can be collected (as in the library's chat example).
	go c.write()
	go h.read(c)
}
