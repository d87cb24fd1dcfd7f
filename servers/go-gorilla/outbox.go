package main

import "sync"

// outgoing is a message that waits in an outbox. A broadcast is in many.
type outgoing struct {
	kind int
	data []byte
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

// put never waits. It reports false if the message would exceed maxBacklog; the
// outbox then ends. Behind its end a message is dropped.
func (o *outbox) put(m outgoing) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return true
	}
	if o.queued+len(m.data) > maxBacklog {
		o.ended = true
		o.messages = nil
		o.filled.Signal()
		return false
	}
	o.messages = append(o.messages, m)
	o.queued += len(m.data)
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
