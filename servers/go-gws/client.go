package main

import (
	"sync"
	"sync/atomic"

	"github.com/lxzan/gws"
)

const (
	maxMessage = 16 << 20 // bytes, docs/protocol.md, "Limits"
	maxQueued  = 64 << 20 // bytes, the same
)

// client is one connection. Any goroutine may send to it; no send waits for the
// peer, since the library's queue of each connection has no bound. So the client
// counts what is in it.
type client struct {
	mu     sync.Mutex
	socket *gws.Conn // nil when the handshake has failed

	queued atomic.Int64 // bytes of payload in the library's queue

	topics map[string]struct{} // what it is subscribed to; nil before its first
}

// reserve makes room in the queue. A client that has not read what was queued
// before is cut off.
func (c *client) reserve(size int) bool {
	if c.queued.Add(int64(size)) <= maxQueued {
		return true
	}
	c.socket.NetConn().Close()
	return false
}

func (c *client) release(size int) {
	c.queued.Add(-int64(size))
}

// send queues data, which must not be changed afterwards. WriteMessage would
// overtake the broadcasts in the queue.
func (c *client) send(opcode gws.Opcode, data []byte) {
	if c.reserve(len(data)) {
		c.socket.WriteAsync(opcode, data, func(error) { c.release(len(data)) })
	}
}

// broadcast queues one message that many clients share. It waits for the client's
// handshake.
func (c *client) broadcast(b *gws.Broadcaster, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.socket == nil || !c.reserve(size) {
		return
	}
	b.Broadcast(c.socket)
	// Broadcast does not tell when the message has been written. What is queued
	// behind it does.
	c.socket.Async(func() { c.release(size) })
}
