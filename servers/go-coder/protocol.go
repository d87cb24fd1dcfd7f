package main

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/coder/websocket"
)

// reply is an outgoing message of the text dialect.
type reply struct {
	Type    string          `json:"type"`
	Topic   string          `json:"topic,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// rawEcho sends every message back as it came, before the next one is read: the
// library answers a close frame at once, and would overtake an outbox.
func rawEcho(c *client, kind websocket.MessageType, data []byte) {
	c.conn.Write(context.Background(), kind, data)
}

// request answers text messages as the text dialect of docs/protocol.md, and
// binary ones as the binary dialect.
func (h *hub) request(c *client, kind websocket.MessageType, data []byte) {
	if kind == websocket.MessageBinary {
		h.binary(c, data)
	} else {
		h.text(c, data)
	}
}

func (h *hub) text(c *client, data []byte) {
	// A map, since encoding/json would match the fields of a struct whatever
	// their case.
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
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
		message := encode("broadcast", "", payload)
		if err := h.nodes.share(websocket.MessageText, "", message); err != nil {
			c.fail("not published: " + err.Error())
			return
		}
		h.broadcast(websocket.MessageText, message)
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
		h.subscribe(c, topic, encode("subscribed", topic, nil))
	case kind == "unsubscribe":
		h.unsubscribe(c, topic)
		c.send(websocket.MessageText, encode("unsubscribed", topic, nil))
	case !ok:
		c.fail(`"payload" is missing`)
	default:
		message := encode("message", topic, payload)
		if err := h.nodes.share(websocket.MessageText, topic, message); err != nil {
			c.fail("not published: " + err.Error())
			return
		}
		h.publish(topic, message)
		c.send(websocket.MessageText, encode("publishResult", topic, payload))
	}
}

func (h *hub) binary(c *client, data []byte) {
	if len(data) == 0 {
		c.fail("the binary message is empty")
		return
	}
	switch data[0] {
	case 'e':
		c.send(websocket.MessageBinary, data)
	case 'b':
		if err := h.nodes.share(websocket.MessageBinary, "", data); err != nil {
			c.fail("not published: " + err.Error())
			return
		}
		h.broadcast(websocket.MessageBinary, data)
		result := bytes.Clone(data) // the broadcast waits in the outboxes
		result[0] = 'r'
		c.send(websocket.MessageBinary, result)
	default:
		c.fail(`byte 0 of the binary message is neither "e" nor "b"`)
	}
}

func (c *client) reply(kind string, payload json.RawMessage) {
	c.send(websocket.MessageText, encode(kind, "", payload))
}

func (c *client) fail(words string) {
	payload, err := json.Marshal(words)
	if err != nil {
		panic(err) // cannot happen: a string
	}
	c.reply("error", payload)
}

// encode keeps <, > and & as they are; json.Marshal would make six bytes of
// each and could lift a message of legal size over the outbox's bound.
func encode(kind, topic string, payload json.RawMessage) []byte {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(reply{kind, topic, payload}); err != nil {
		panic(err) // cannot happen: payload has been parsed
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))
}
