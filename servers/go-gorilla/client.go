package main

import (
	"errors"
	"io"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

const (
	maxMessage = 16 << 20        // bytes, docs/protocol.md, "Limits"
	maxQueued  = 64 << 20        // bytes, same
	closeGrace = 2 * time.Second // for a peer that does not finish the closing handshake
)

// message is one outgoing message: data for one client, or prepared for many.
type message struct {
	kind     int // websocket.TextMessage, BinaryMessage or CloseMessage
	data     []byte
	prepared *websocket.PreparedMessage
}

// client is one connection and the queue of what is to be written to it. Any
// goroutine may call send; write is the only goroutine that writes messages.
type client struct {
	conn    *websocket.Conn // nil until attach
	written chan struct{}   // closed when write has ended

	mu     sync.Mutex
	ready  sync.Cond // queue is not empty, or ended
	queue  []message
	queued int  // bytes in queue and in the batch that write holds
	ended  bool // nothing more is accepted
}

func newClient() *client {
	c := &client{written: make(chan struct{})}
	c.ready.L = &c.mu
	return c
}

func (c *client) attach(conn *websocket.Conn) {
	conn.SetReadLimit(maxMessage)
	// The default handler's close frame would overtake queued answers.
	conn.SetCloseHandler(func(code int, _ string) error {
		c.close(code)
		return nil
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = conn
	if c.ended {
		conn.Close()
	}
}

// send queues m, or cuts the connection off when it has fallen too far behind.
// It never blocks on the network.
func (c *client) send(m message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	if c.queued+len(m.data) > maxQueued {
		c.ended = true
		c.queue = nil
		if c.conn != nil {
			c.conn.Close()
		}
	} else {
		c.queue = append(c.queue, m)
		c.queued += len(m.data)
	}
	c.ready.Signal()
}

// close queues a close frame behind what is queued already.
func (c *client) close(code int) {
	c.send(message{kind: websocket.CloseMessage, data: websocket.FormatCloseMessage(code, "")})
}

// end lets write finish what is queued and stop.
func (c *client) end() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.ready.Signal()
}

// next waits for queued messages and takes them all; it returns none when the
// queue has ended. spare is reused as the next queue.
func (c *client) next(spare []message) []message {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.queue) == 0 && !c.ended {
		c.ready.Wait()
	}
	batch := c.queue
	c.queue = spare
	return batch
}

func (c *client) sent(bytes int) {
	c.mu.Lock()
	c.queued -= bytes
	c.mu.Unlock()
}

// write writes what is queued until the queue ends or the connection fails.
func (c *client) write() {
	defer close(c.written)
	var spare []message
	for {
		batch := c.next(spare)
		if len(batch) == 0 {
			return
		}
		for _, m := range batch {
			if err := c.writeOne(m); err != nil {
				// After a close frame the reader still drains the connection.
				if !errors.Is(err, websocket.ErrCloseSent) {
					c.conn.Close()
				}
				return
			}
			c.sent(len(m.data))
		}
		for i := range batch {
			batch[i] = message{} // so that what was sent can be collected
		}
		spare = batch[:0]
	}
}

func (c *client) writeOne(m message) error {
	if m.prepared != nil {
		return c.conn.WritePreparedMessage(m.prepared)
	}
	return c.conn.WriteMessage(m.kind, m.data)
}

// finish ends the connection after its last message was read. Closing a socket
// that holds unread input resets it, and the peer may then never see the close
// frame; so the sending half is closed first and the input read to its end.
func (c *client) finish() {
	c.end()
	defer c.conn.Close()
	deadline := time.Now().Add(closeGrace)
	select {
	case <-c.written:
	case <-time.After(closeGrace):
		return
	}
	if half, ok := c.conn.NetConn().(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		c.conn.NetConn().SetReadDeadline(deadline)
		io.Copy(io.Discard, c.conn.NetConn())
	}
}
