package main

import (
	"strings"
	"sync"

	"github.com/gorilla/websocket"
)

const maxTopic = 64 // bytes, docs/protocol.md, "Rooms"

func isTopic(name string) bool {
	other := func(r rune) bool {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		return !letter && (r < '0' || r > '9') && !strings.ContainsRune(".-_:", r)
	}
	return name != "" && len(name) <= maxTopic && strings.IndexFunc(name, other) < 0
}

// subscriptions says who is subscribed to what. It holds no topic without
// subscribers, and knows no goroutines.
type subscriptions map[string]map[*client]struct{}

func (s subscriptions) join(c *client, topic string) {
	if s[topic] == nil {
		s[topic] = make(map[*client]struct{})
	}
	s[topic][c] = struct{}{}
	if c.topics == nil {
		c.topics = make(map[string]struct{})
	}
	c.topics[topic] = struct{}{}
}

func (s subscriptions) leave(c *client, topic string) {
	delete(s[topic], c)
	if len(s[topic]) == 0 {
		delete(s, topic)
	}
	delete(c.topics, topic)
}

func (s subscriptions) leaveAll(c *client) {
	for topic := range c.topics {
		s.leave(c, topic)
	}
}

// topics are those of the direct variant. Their lock is not that of the set of
// clients, so that no broadcast waits for it.
type topics struct {
	mu      sync.RWMutex
	members subscriptions
}

// subscribe writes the reply under the lock: no message of the topic may come
// before it.
func (t *topics) subscribe(c *client, topic string, reply []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.members.join(c, topic)
	c.send(websocket.TextMessage, reply)
}

func (t *topics) unsubscribe(c *client, topic string) {
	t.mu.Lock()
	t.members.leave(c, topic)
	t.mu.Unlock()
}

func (t *topics) unsubscribeAll(c *client) {
	t.mu.Lock()
	t.members.leaveAll(c)
	t.mu.Unlock()
}

// publishTo writes one frame, built once, to every subscriber.
func (t *topics) publishTo(topic string, data []byte) {
	m := prepare(websocket.TextMessage, data)
	t.mu.RLock()
	defer t.mu.RUnlock()
	for c := range t.members[topic] {
		c.sendPrepared(m)
	}
}
