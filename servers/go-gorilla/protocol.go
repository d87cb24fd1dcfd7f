package main

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/gorilla/websocket"
)

// reply is an outgoing message of the text dialect.
type reply struct {
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload"`
}

// read answers c's messages until the connection ends. Text messages are the
// text dialect of docs/protocol.md, binary ones the binary dialect.
func (h *hub) read(c *client) {
	defer c.finish()
	defer h.remove(c)
	for {
		kind, data, err := c.conn.ReadMessage()
		if err != nil {
			return
		}
		if kind == websocket.BinaryMessage {
			h.binary(c, data)
			continue
		}
		// The library leaves UTF-8 to the application (RFC 6455, section 8.1).
		if !utf8.Valid(data) {
			c.close(websocket.CloseInvalidFramePayloadData)
			return
		}
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
	payload, ok := fields["payload"]
	if !ok {
		c.fail(`"payload" is missing`)
		return
	}
	switch kind {
	case "echo":
		c.reply("echo", payload)
	case "broadcast":
		h.publish(websocket.TextMessage, encode("broadcast", payload))
		c.reply("broadcastResult", payload)
	default:
		c.fail(`"type" is neither "echo" nor "broadcast"`)
	}
}

func (h *hub) binary(c *client, data []byte) {
	if len(data) == 0 {
		c.fail("the binary message is empty")
		return
	}
	switch data[0] {
	case 'e':
		c.send(message{kind: websocket.BinaryMessage, data: data})
	case 'b':
		h.publish(websocket.BinaryMessage, data)
		result := append([]byte(nil), data...)
		result[0] = 'r'
		c.send(message{kind: websocket.BinaryMessage, data: result})
	default:
		c.fail(`byte 0 of the binary message is neither "e" nor "b"`)
	}
}

// publish queues one frame, built once, on every connection.
func (h *hub) publish(kind int, data []byte) {
	prepared, err := websocket.NewPreparedMessage(kind, data)
	if err != nil {
		panic(err) // cannot happen: it is written to memory, uncompressed
	}
	h.broadcast(message{kind: kind, data: data, prepared: prepared})
}

func (c *client) reply(kind string, payload json.RawMessage) {
	c.send(message{kind: websocket.TextMessage, data: encode(kind, payload)})
}

func (c *client) fail(words string) {
	payload, err := json.Marshal(words)
	if err != nil {
		panic(err) // cannot happen: a string
	}
	c.reply("error", payload)
}

// encode keeps <, > and & as they are; json.Marshal would make six bytes of
// each and could lift a message of legal size over the queue's bound.
func encode(kind string, payload json.RawMessage) []byte {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(reply{kind, payload}); err != nil {
		panic(err) // cannot happen: payload has been parsed
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))
}
