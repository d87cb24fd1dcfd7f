package main

import (
	"net/http"
	"sync"

	"golang.org/x/net/websocket"
)

// connKey is the key of a request's conn in its context. The library does not
// give the connection out again.
type connKey struct{}

// members is the set of connected clients: a set, or a room in the idiomatic
// variant.
type members interface {
	add(c *client)
	remove(c *client)
	// broadcast returns when the message is on its way to every connection, which
	// is what the ack rule of docs/protocol.md asks for.
	broadcast(m *message)
	// publish is broadcast for the subscribers of a topic.
	publish(topic string, m *message)
	// subscribe sends the reply before any message of the topic.
	subscribe(c *client, topic string, reply *message)
	// unsubscribe returns when no message of the topic is sent any more.
	unsubscribe(c *client, topic string)
}

// hub accepts connections. It does not know what they say.
type hub struct{ members }

// set is the members of the other variants.
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

func (s *set) broadcast(m *message) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for c := range s.clients {
		c.send(m)
	}
}

// serve upgrades requests, and has answer deal with each message.
func (h *hub) serve(answer func(*client, *message)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := &client{conn: r.Context().Value(connKey{}).(halfCloser)}
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
				if c.out == nil {
					c.conn.(*conn).onResume(c.resume)
				}
				c.mu.Unlock()
				if c.out != nil {
					go c.write()
				}
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
