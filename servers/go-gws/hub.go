package main

import (
	"bytes"
	"net/http"
	"sync"

	"github.com/lxzan/gws"
)

// sessionKey is the key of a connection's client in its session.
const sessionKey = "client"

// hub is the set of connected clients, and the library's events of all of them.
// It does not know what they say: answer deals with each message.
type hub struct {
	gws.BuiltinEventHandler
	mu       sync.RWMutex
	clients  map[*client]struct{}
	upgrader *gws.Upgrader
	answer   func(c *client, opcode gws.Opcode, data []byte)
	topics
}

func newHub(deflate bool) *hub {
	h := &hub{clients: make(map[*client]struct{}), topics: topics{members: make(subscriptions)}}
	h.upgrader = gws.NewUpgrader(h, &gws.ServerOption{
		ReadMaxPayloadSize:  maxMessage,
		WriteMaxPayloadSize: maxQueued, // the result of the largest message is longer than it
		CheckUtf8Enabled:    true,
		PermessageDeflate:   gws.PermessageDeflate{Enabled: deflate},
	})
	h.answer = h.request
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
func (h *hub) broadcast(opcode gws.Opcode, data []byte) {
	b := gws.NewBroadcaster(opcode, data)
	defer b.Close()
	h.mu.RLock()
	defer h.mu.RUnlock()
	for c := range h.clients {
		c.broadcast(b, len(data))
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
	socket, err := h.upgrader.Upgrade(w, r)
	c.socket = socket
	c.mu.Unlock()
	if err != nil {
		h.remove(c)
		return
	}
	socket.Session().Store(sessionKey, c)
	go socket.ReadLoop()
}

func clientOf(socket *gws.Conn) *client {
	c, _ := socket.Session().Load(sessionKey)
	return c.(*client)
}

func (h *hub) OnMessage(socket *gws.Conn, message *gws.Message) {
	defer message.Close()
	h.answer(clientOf(socket), message.Opcode, message.Bytes())
}

// OnPing answers with the ping's payload; the library's own handler sends none.
func (h *hub) OnPing(socket *gws.Conn, payload []byte) {
	clientOf(socket).send(gws.OpcodePong, bytes.Clone(payload))
}

func (h *hub) OnClose(socket *gws.Conn, _ error) {
	h.remove(clientOf(socket))
}
