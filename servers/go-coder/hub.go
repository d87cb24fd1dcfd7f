package main

import (
	"net/http"
	"sync"

	"github.com/coder/websocket"
)

// hub is the set of connected clients. It does not know what they say: answer
// deals with each message.
type hub struct {
	mu      sync.RWMutex
	clients map[*client]struct{}
	answer  func(c *client, kind websocket.MessageType, data []byte)
	accept  websocket.AcceptOptions
	nodes   *nodes // nil for one node
	topics
}

func newHub(deflate bool) *hub {
	h := &hub{clients: make(map[*client]struct{}), topics: topics{members: make(subscriptions)}}
	h.answer = h.request
	// Load generators send any Origin or none.
	h.accept = websocket.AcceptOptions{InsecureSkipVerify: true}
	if deflate {
		h.accept.CompressionMode = websocket.CompressionContextTakeover
	}
	return h
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
	h.unsubscribeAll(c)
}

// broadcast returns when the message is queued on every connection, which is what
// the ack rule of docs/protocol.md asks for.
func (h *hub) broadcast(kind websocket.MessageType, data []byte) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for c := range h.clients {
		c.send(kind, data)
	}
}

// serve upgrades one request and reads the connection to its end.
func (h *hub) serve(w http.ResponseWriter, r *http.Request) {
	c := newClient()
	// A client that is added only behind its response would miss a broadcast that
	// another one sends as soon as this one has read it. What is queued until then
	// waits for write. The library's chat example does the same.
	h.add(c)
	defer h.remove(c)
	conn, err := websocket.Accept(w, r, &h.accept)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxMessage)
	if !c.opened(conn) {
		return
	}
	defer c.out.end()
	go c.write()
	c.read(h.answer)
}
