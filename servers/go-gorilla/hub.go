package main

import (
	"net/http"
	"sync"

	"github.com/gorilla/websocket"
)

// members is the set of connected clients: a room, or a set in the direct variant.
type members interface {
	add(c *client)
	remove(c *client)
	// publish returns when the message is on its way to every connection, which
	// is what the ack rule of docs/protocol.md asks for. It may keep data.
	publish(kind int, data []byte)
	// publishTo is publish for the subscribers of a topic, in text.
	publishTo(topic string, data []byte)
	// subscribe sends the reply before any message of the topic.
	subscribe(c *client, topic string, reply []byte)
	// unsubscribe returns when no message of the topic is sent any more.
	unsubscribe(c *client, topic string)
}

// hub accepts connections. It does not know what they say: answer deals with each
// message.
type hub struct {
	members
	answer func(c *client, kind int, data []byte)
}

// set is the members of the direct variant.
type set struct {
	mu      sync.RWMutex
	clients map[*client]struct{}
	topics
}

func newSet() *set {
	return &set{clients: make(map[*client]struct{}), topics: topics{members: make(subscriptions)}}
}

func (s *set) add(c *client) {
	s.mu.Lock()
	s.clients[c] = struct{}{}
	s.mu.Unlock()
}

func (s *set) remove(c *client) {
	s.mu.Lock()
	delete(s.clients, c)
	s.mu.Unlock()
	s.unsubscribeAll(c)
}

// publish writes one frame, built once, to every connection.
func (s *set) publish(kind int, data []byte) {
	m := prepare(kind, data)
	s.mu.RLock()
	defer s.mu.RUnlock()
	for c := range s.clients {
		c.sendPrepared(m)
	}
}

func prepare(kind int, data []byte) *websocket.PreparedMessage {
	m, err := websocket.NewPreparedMessage(kind, data)
	if err != nil {
		panic(err) // cannot happen: it is written to memory, uncompressed
	}
	return m
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
	if c.out != nil {
		conn.SetCloseHandler(c.answerClose)
		go c.write()
	}
	// A new goroutine, so that what the HTTP server allocated for the request
	// can be collected (as in the library's chat example).
	go h.read(c)
}
