package main

import (
	"sync"

	"github.com/fasthttp/websocket"
	fiber "github.com/gofiber/contrib/websocket"
)

// outgoing is a message that waits in an outbox. A broadcast is in many, with the
// frame that they share.
type outgoing struct {
	kind   int
	data   []byte
	shared *websocket.PreparedMessage // in place of kind and data
	size   int                        // bytes of payload
}

func prepare(kind int, data []byte) outgoing {
	m, err := websocket.NewPreparedMessage(kind, data)
	if err != nil {
		panic(err) // cannot happen: it is written to memory, uncompressed
	}
	return outgoing{shared: m, size: len(data)}
}

func (m outgoing) writeTo(conn *fiber.Conn) error {
	if m.shared != nil {
		return conn.WritePreparedMessage(m.shared)
	}
	return conn.WriteMessage(m.kind, m.data)
}

// outbox holds the messages that one connection has still to write. Any goroutine
// may put; one takes. It does not know connections.
type outbox struct {
	mu       sync.Mutex
	filled   sync.Cond // messages is no longer empty, or ended has become true
	messages []outgoing
	queued   int // bytes in messages and in the hands of the goroutine that took them
	ended    bool
}

func newOutbox() *outbox {
	o := &outbox{}
	o.filled.L = &o.mu
	return o
}

// put never waits. It reports false if the message would exceed maxQueued; the
// outbox then ends. Behind its end a message is dropped.
func (o *outbox) put(m outgoing) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return true
	}
	if o.queued > 0 && o.queued+m.size > maxQueued {
		o.ended = true
		o.messages = nil
		o.filled.Signal()
		return false
	}
	o.messages = append(o.messages, m)
	o.queued += m.size
	o.filled.Signal()
	return true
}

// take waits for messages and returns all of them, or none at the end. spare is
// the slice of an earlier take, to be used again.
func (o *outbox) take(spare []outgoing) []outgoing {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.messages) == 0 && !o.ended {
		o.filled.Wait()
	}
	messages := o.messages
	o.messages = spare[:0]
	return messages
}

// wrote gives back the room of a message that was taken.
func (o *outbox) wrote(size int) {
	o.mu.Lock()
	o.queued -= size
	o.mu.Unlock()
}

// end lets take return what is there and then nothing.
func (o *outbox) end() {
	o.mu.Lock()
	o.ended = true
	o.filled.Signal()
	o.mu.Unlock()
}
