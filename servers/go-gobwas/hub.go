package main

import (
	"net"
	"sync"
	"time"

	"github.com/gobwas/ws"
)

const handshakeTimeout = 10 * time.Second

// hub is the set of connected clients. It does not know what they say: answer
// deals with each message.
type hub struct {
	mu      sync.RWMutex
	clients map[*client]struct{}
	answer  func(c *client, op ws.OpCode, data []byte)
	topics
}

func newHub() *hub {
	h := &hub{clients: make(map[*client]struct{}), topics: topics{members: make(subscriptions)}}
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

// broadcast returns when the frame is queued on every connection, which is what
// the ack rule of docs/protocol.md asks for.
func (h *hub) broadcast(frame []byte) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for c := range h.clients {
		c.send(frame)
	}
}

// serve upgrades a connection and reads it to its end.
func (h *hub) serve(conn *net.TCPConn) {
	c := newClient(conn)
	defer h.remove(c)
	upgrader := ws.Upgrader{
		// A client that is added only behind its response would miss a broadcast
		// that another one sends as soon as this one has read it. What is queued
		// until then waits for write.
		OnBeforeUpgrade: func() (ws.HandshakeHeader, error) {
			h.add(c)
			return ws.HandshakeHeaderHTTP(nil), nil
		},
	}
	conn.SetDeadline(time.Now().Add(handshakeTimeout))
	if _, err := upgrader.Upgrade(handshake{c.in, conn}); err != nil {
		conn.Close()
		return
	}
	conn.SetDeadline(time.Time{})
	go c.write()
	c.read(h.answer)
	h.remove(c)
	c.finish()
}
