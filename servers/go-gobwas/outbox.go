package main

import "sync"

const maxQueued = 64 << 20 // bytes, docs/protocol.md, "Limits"

// outbox holds the frames that one connection has still to write. Any goroutine
// may put; one takes. It does not know connections.
type outbox struct {
	mu     sync.Mutex
	filled sync.Cond // frames is no longer empty, or ended has become true
	frames [][]byte
	queued int // bytes in frames and in the hands of the goroutine that took them
	ended  bool
}

// put never waits. It reports false if the frame would exceed maxQueued; the
// outbox then ends, as it does behind the last frame. What comes later is dropped.
func (o *outbox) put(frame []byte, last bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return true
	}
	if o.queued+len(frame) > maxQueued {
		o.ended = true
		o.frames = nil
		o.filled.Signal()
		return false
	}
	o.frames = append(o.frames, frame)
	o.queued += len(frame)
	o.ended = last
	o.filled.Signal()
	return true
}

// take waits for frames and returns all of them, or none at the end. spare is the
// slice of an earlier take, to be used again.
func (o *outbox) take(spare [][]byte) [][]byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.frames) == 0 && !o.ended {
		o.filled.Wait()
	}
	frames := o.frames
	o.frames = spare[:0]
	return frames
}

// wrote gives back the room of a frame that was taken.
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
