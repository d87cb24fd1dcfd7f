package main

import (
	"fmt"
	"os"

	"github.com/coder/websocket"
	"github.com/nats-io/nats.go"
)

// One subject for all messages, so that those of one sender keep their order. A
// topic may have characters in places where those of a subject may not.
const subject = "go-coder"

// The headers that say what a message is.
const (
	binaryHeader = "Binary" // "1", or none for text
	topicHeader  = "Topic"  // none for a broadcast
)

// nodes hands messages to the clients of other nodes, through NATS. nil does
// nothing: there is one node. What happens without NATS is the library's affair,
// with its own settings.
type nodes struct {
	nats *nats.Conn
}

// join connects, and hands the hub what other nodes share. The server does not
// send a node what it has shared itself.
func join(url string, h *hub) (*nodes, error) {
	report := func(_ *nats.Conn, _ *nats.Subscription, err error) {
		fmt.Fprintln(os.Stderr, "go-coder-server: NATS:", err)
	}
	conn, err := nats.Connect(url, nats.Name("go-coder"), nats.NoEcho(), nats.ErrorHandler(report))
	if err != nil {
		return nil, err
	}
	_, err = conn.Subscribe(subject, func(m *nats.Msg) {
		if topic := m.Header.Get(topicHeader); topic != "" {
			h.publish(topic, m.Data)
		} else if m.Header.Get(binaryHeader) != "" {
			h.broadcast(websocket.MessageBinary, m.Data)
		} else {
			h.broadcast(websocket.MessageText, m.Data)
		}
	})
	if err == nil {
		// Connections are accepted when the server has the subscription.
		err = conn.Flush()
	}
	return &nodes{conn}, err
}

// share returns when the server has taken the message, or when the library has
// given it up. The topic is empty for a broadcast.
func (n *nodes) share(kind websocket.MessageType, topic string, data []byte) error {
	if n == nil {
		return nil
	}
	m := nats.NewMsg(subject)
	m.Data = data
	if topic != "" {
		m.Header.Set(topicHeader, topic)
	}
	if kind == websocket.MessageBinary {
		m.Header.Set(binaryHeader, "1")
	}
	if err := n.nats.PublishMsg(m); err != nil {
		return err
	}
	return n.nats.Flush()
}
