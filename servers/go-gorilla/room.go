package main

// room is the set of connected clients of the idiomatic variant. As in the
// library's chat example, one goroutine owns it, and each client has an outbox
// and a goroutine that writes what is in it.
type room struct {
	register   chan *client
	unregister chan *client
	broadcasts chan broadcast
}

// broadcast is a message for all clients in the room.
type broadcast struct {
	message outgoing
	queued  chan<- struct{} // closed when the message is queued on every connection
}

func newRoom() *room {
	r := &room{make(chan *client), make(chan *client), make(chan broadcast)}
	go r.run()
	return r
}

func (r *room) run() {
	clients := make(map[*client]struct{})
	for {
		select {
		case c := <-r.register:
			clients[c] = struct{}{}
		case c := <-r.unregister:
			delete(clients, c)
		case b := <-r.broadcasts:
			for c := range clients {
				c.queue(b.message)
			}
			close(b.queued)
		}
	}
}

func (r *room) add(c *client) {
	c.out = newOutbox()
	c.written = make(chan struct{})
	r.register <- c
}

func (r *room) remove(c *client) { r.unregister <- c }

func (r *room) publish(kind int, data []byte) {
	queued := make(chan struct{})
	r.broadcasts <- broadcast{outgoing{kind, data}, queued}
	<-queued
}

// queue puts a message into c's outbox. A client that has not read what was put
// there before is cut off.
func (c *client) queue(m outgoing) {
	if c.out.put(m) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		c.conn.NetConn().Close()
	}
}

// answerClose queues the answer to a close frame behind what was sent before.
func (c *client) answerClose(code int, _ string) error {
	c.close(code)
	return nil
}

// write writes what is in the outbox until that or the connection ends.
func (c *client) write() {
	defer close(c.written)
	var messages []outgoing
	for {
		messages = c.out.take(messages)
		if len(messages) == 0 {
			return
		}
		for i, m := range messages {
			if c.conn.WriteMessage(m.kind, m.data) != nil {
				c.out.end()
				return
			}
			c.out.wrote(len(m.data))
			messages[i] = outgoing{}
		}
	}
}
