package main

import (
	"net/http"
	"sync"

	"golang.org/x/net/websocket"
)

// connKey is the key of a request's conn in its context. The library does not
// give the connection out again.
type connKey struct{}

// hub is the set of connected clients. It does not know what they say.
type hub struct {
	mu      sync.RWMutex
	clients map[*client]struct{}
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
func (h *hub) broadcast(m *message) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for c := range h.clients {
		c.send(m)
	}
}

// serve upgrades requests, and has answer deal with each message.
func (h *hub) serve(answer func(*client, *message)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := &client{conn: r.Context().Value(connKey{}).(*conn)}
		// The library writes the response before it calls Handler. A client that
		// is added only then would miss a broadcast that another one sends as
		// soon as this one has read its response. So broadcasts wait for the
		// handshake, which does not wait for the peer.
		c.mu.Lock()
		h.add(c)
		defer h.remove(c)
		upgraded := false
		websocket.Server{
			Handshake: acceptAny,
			Handler: func(ws *websocket.Conn) {
				upgraded = true
				c.ws = ws
				c.mu.Unlock()
				c.read(answer)
				h.remove(c)
				c.finish()
			},
		}.ServeHTTP(w, r)
		if !upgraded {
			c.mu.Unlock()
		}
	}
}

// acceptAny takes any Origin, or none, and no subprotocol: the library's default
// is to refuse the former and to take what the client offers.
func acceptAny(config *websocket.Config, _ *http.Request) error {
	config.Protocol = nil
	return nil
}
