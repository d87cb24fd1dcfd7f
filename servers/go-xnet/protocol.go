package main

import (
	"bytes"
	"encoding/json"
)

// reply is an outgoing message of the text dialect.
type reply struct {
	Type    string          `json:"type"`
	Topic   string          `json:"topic,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// request answers text messages as the text dialect of docs/protocol.md, and
// binary ones as the binary dialect.
func (h *hub) request(c *client, m *message) {
	if m.opcode == binaryMessage {
		h.binary(c, m)
	} else {
		h.text(c, m)
	}
}

// only answers messages of one opcode; another is an error.
func only(opcode byte, answer func(*client, *message)) func(*client, *message) {
	return func(c *client, m *message) {
		if m.opcode != opcode {
			c.fail("this path does not speak the dialect of the message")
			return
		}
		answer(c, m)
	}
}

func (h *hub) text(c *client, m *message) {
	// A map, since encoding/json would match the fields of a struct whatever
	// their case.
	var fields map[string]json.RawMessage
	if json.Unmarshal(m.data, &fields) != nil {
		c.fail("the message is not a JSON object")
		return
	}
	var kind string
	if json.Unmarshal(fields["type"], &kind) != nil {
		c.fail(`"type" is missing or not a string`)
		return
	}
	switch kind {
	case "subscribe", "unsubscribe", "publish":
		h.topical(c, kind, fields)
		return
	}
	payload, ok := fields["payload"]
	if !ok {
		c.fail(`"payload" is missing`)
		return
	}
	switch kind {
	case "echo":
		c.reply("echo", payload)
	case "broadcast":
		h.broadcast(&message{textMessage, encode("broadcast", "", payload)})
		c.reply("broadcastResult", payload)
	default:
		c.fail(`"type" is unknown`)
	}
}

// topical answers a request about a topic.
func (h *hub) topical(c *client, kind string, fields map[string]json.RawMessage) {
	var topic string
	if json.Unmarshal(fields["topic"], &topic) != nil || !isTopic(topic) {
		c.fail(`"topic" is missing or no name`)
		return
	}
	payload, ok := fields["payload"]
	switch {
	case kind == "subscribe":
		h.subscribe(c, topic, &message{textMessage, encode("subscribed", topic, nil)})
	case kind == "unsubscribe":
		h.unsubscribe(c, topic)
		c.send(&message{textMessage, encode("unsubscribed", topic, nil)})
	case !ok:
		c.fail(`"payload" is missing`)
	default:
		h.publish(topic, &message{textMessage, encode("message", topic, payload)})
		c.send(&message{textMessage, encode("publishResult", topic, payload)})
	}
}

func (h *hub) binary(c *client, m *message) {
	if len(m.data) == 0 {
		c.fail("the binary message is empty")
		return
	}
	switch m.data[0] {
	case 'e':
		c.send(m)
	case 'b':
		h.broadcast(m)
		// A copy, as the broadcast may still wait in outboxes.
		c.send(&message{binaryMessage, append([]byte{'r'}, m.data[1:]...)})
	default:
		c.fail(`byte 0 of the binary message is neither "e" nor "b"`)
	}
}

func (c *client) reply(kind string, payload json.RawMessage) {
	c.send(&message{textMessage, encode(kind, "", payload)})
}

func (c *client) fail(words string) {
	payload, err := json.Marshal(words)
	if err != nil {
		panic(err) // cannot happen: a string
	}
	c.reply("error", payload)
}

// encode keeps <, > and & as they are; json.Marshal would make six bytes of
// each and could lift a message of legal size over the backlog's bound.
func encode(kind, topic string, payload json.RawMessage) []byte {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(reply{kind, topic, payload}); err != nil {
		panic(err) // cannot happen: payload has been parsed
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))
}
