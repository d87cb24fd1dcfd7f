package main

import (
	"net/http"
	"sync"
	"unicode/utf8"

	"github.com/lesismal/nbio/nbhttp/websocket"
)

const maxMessage = 16 << 20 // bytes, docs/protocol.md, "Limits"

// Close codes, RFC 6455, section 7.4.1.
const (
	noCode         = 1005 // what the library calls a close frame without a code
	invalidPayload = 1007
)

// hub is the set of connected clients, and the library's events of all of them.
// It does not know what they say: answer deals with each message.
type hub struct {
	mu       sync.RWMutex
	clients  map[*client]struct{}
	upgrader *websocket.Upgrader
	answer   func(c *client, kind websocket.MessageType, data []byte)
	topics
}

func newHub(deflate bool) *hub {
	h := &hub{
		clients:  make(map[*client]struct{}),
		upgrader: websocket.NewUpgrader(),
		topics:   topics{members: make(subscriptions)},
	}
	h.answer = h.request
	h.upgrader.EnableCompression(deflate)
	h.upgrader.KeepaliveTime = 0 // no idle time-out
	h.upgrader.MessageLengthLimit = maxMessage
	// Load generators send any Origin or none.
	h.upgrader.CheckOrigin = func(*http.Request) bool { return true }
	h.upgrader.SetCloseHandler(answerClose)
	h.upgrader.OnMessage(func(conn *websocket.Conn, kind websocket.MessageType, data []byte) {
		if kind == websocket.TextMessage && !utf8.Valid(data) {
			conn.WriteClose(invalidPayload, "")
			conn.Close()
			return
		}
		h.answer(conn.Session().(*client), kind, data)
	})
	h.upgrader.OnClose(func(conn *websocket.Conn, _ error) {
		h.remove(conn.Session().(*client))
	})
	return h
}

// answerClose writes the close frame that answers the peer's; the library then
// closes the connection.
func answerClose(conn *websocket.Conn, code int, reason string) {
	switch {
	case code == noCode:
		conn.WriteMessage(websocket.CloseMessage, nil)
	case !utf8.ValidString(reason):
		conn.WriteClose(invalidPayload, "")
	default:
		conn.WriteClose(code, reason)
	}
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

// broadcast returns when the message is on its way to every connection, which is
// what the ack rule of docs/protocol.md asks for.
func (h *hub) broadcast(kind websocket.MessageType, data []byte) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for c := range h.clients {
		c.deliver(kind, data)
	}
}

// serve upgrades one request. The library calls the events of a connection after
// its handler has returned.
func (h *hub) serve(w http.ResponseWriter, r *http.Request) {
	c := &client{}
	// Upgrade writes the response before it returns the connection. A client
	// that is added only then would miss a broadcast that another one sends as
	// soon as this one has read its response. So broadcasts wait for Upgrade,
	// which does not wait for the peer.
	c.handshake.Lock()
	h.add(c)
	conn, err := h.upgrader.Upgrade(w, r, nil)
	if err == nil {
		conn.SetSession(c)
		c.conn = conn
	}
	c.handshake.Unlock()
	if err != nil {
		h.remove(c) // not under the lock for which broadcasts wait
	}
}
