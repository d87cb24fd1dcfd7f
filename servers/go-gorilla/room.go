package main

import "github.com/gorilla/websocket"

// room is the set of connected clients of the idiomatic variant. As in the
// library's chat example, one goroutine owns it, and each client has an outbox
// and a goroutine that writes what is in it.
type room struct {
	register      chan *client
	unregister    chan *client
	subscriptions chan subscription
	broadcasts    chan broadcast
}

// subscription is the beginning of one, or its end where there is no reply.
type subscription struct {
	client *client
	topic  string
	reply  []byte
	done   chan<- struct{} // closed when it holds and the reply is queued
}

// broadcast is a message for all clients in the room, or for the subscribers of a
// topic.
type broadcast struct {
	message outgoing
	topic   string          // "" for all clients
	queued  chan<- struct{} // closed when the message is queued on every connection
}

func newRoom() *room {
	r := &room{make(chan *client), make(chan *client), make(chan subscription), make(chan broadcast)}
	go r.run()
	return r
}

func (r *room) run() {
	clients := make(map[*client]struct{})
	topics := make(subscriptions)
	for {
		select {
		case c := <-r.register:
			clients[c] = struct{}{}
		case c := <-r.unregister:
			delete(clients, c)
			topics.leaveAll(c)
		case s := <-r.subscriptions:
			if s.reply != nil {
				topics.join(s.client, s.topic)
				s.client.queue(outgoing{websocket.TextMessage, s.reply})
			} else {
				topics.leave(s.client, s.topic)
			}
			close(s.done)
		case b := <-r.broadcasts:
			to := clients
			if b.topic != "" {
				to = topics[b.topic]
			}
			for c := range to {
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

func (r *room) publish(kind int, data []byte) { r.deliver("", outgoing{kind, data}) }

func (r *room) publishTo(topic string, data []byte) {
	r.deliver(topic, outgoing{websocket.TextMessage, data})
}

func (r *room) deliver(topic string, m outgoing) {
	queued := make(chan struct{})
	r.broadcasts <- broadcast{m, topic, queued}
	<-queued
}

func (r *room) subscribe(c *client, topic string, reply []byte) {
	done := make(chan struct{})
	r.subscriptions <- subscription{c, topic, reply, done}
	<-done
}

func (r *room) unsubscribe(c *client, topic string) { r.subscribe(c, topic, nil) }

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
