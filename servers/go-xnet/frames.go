package main

import (
	"encoding/binary"
	"io"
	"unicode/utf8"

	"golang.org/x/net/websocket"
)

const (
	textMessage   = websocket.TextFrame
	binaryMessage = websocket.BinaryFrame

	maxMessage = 16 << 20 // bytes, docs/protocol.md, "Limits"
	maxControl = 125      // bytes, RFC 6455, section 5.5
	maxHeader  = 14       // bytes, RFC 6455, section 5.2
)

// message is a whole message, or a close frame.
type message struct {
	opcode byte
	data   []byte
}

// size is that of its frame, or a little more.
func (m *message) size() int { return maxHeader + len(m.data) }

// codec writes a *message as one frame.
var codec = websocket.Codec{Marshal: func(v any) ([]byte, byte, error) {
	m := v.(*message)
	return m.data, m.opcode, nil
}}

// closeError is an end of the connection that asks for a close frame.
type closeError struct{ payload []byte }

func (closeError) Error() string { return "the connection is closing" }

// closeWith is a closeError with a close code (RFC 6455, section 7.4.1).
func closeWith(code uint16) error {
	return closeError{binary.BigEndian.AppendUint16(nil, code)}
}

// receive reads one message. The library's own Receive takes every frame for a
// message; this uses the frame methods of websocket.Conn to put fragments
// together and to check what the library lets pass.
func receive(ws *websocket.Conn) (*message, error) {
	var m message
	for {
		frame, err := ws.NewFrameReader()
		if err != nil {
			return nil, err
		}
		var header [maxHeader]byte
		n, err := frame.HeaderReader().Read(header[:])
		if err != nil {
			return nil, err
		}
		size := frame.Len() - n
		final, opcode, masked := header[0]&0x80 != 0, header[0]&0x0f, header[1]&0x80 != 0
		control := opcode >= websocket.CloseFrame
		switch {
		case header[0]&0x70 != 0, // reserved bits
			!masked,
			control && (!final || size > maxControl):
			return nil, closeWith(1002)
		case size > maxMessage-len(m.data):
			return nil, closeWith(1009)
		}

		switch opcode {
		case websocket.PingFrame, websocket.PongFrame:
			if _, err := ws.HandleFrame(frame); err != nil {
				return nil, err
			}
			continue
		case websocket.CloseFrame:
		case websocket.TextFrame, websocket.BinaryFrame:
			if m.opcode != 0 {
				return nil, closeWith(1002)
			}
			m.opcode = opcode
		case websocket.ContinuationFrame:
			if m.opcode == 0 {
				return nil, closeWith(1002)
			}
		default:
			return nil, closeWith(1002)
		}

		payload, err := io.ReadAll(frame)
		switch {
		case err != nil:
			return nil, err
		case len(payload) < size:
			return nil, io.ErrUnexpectedEOF
		case opcode == websocket.CloseFrame:
			return nil, answerClose(payload)
		case m.data == nil:
			m.data = payload
		default:
			m.data = append(m.data, payload...)
		}
		if final {
			if m.opcode == textMessage && !utf8.Valid(m.data) {
				return nil, closeWith(1007)
			}
			return &m, nil
		}
	}
}

// answerClose is the close frame that answers one with this payload: the same
// code, if it is one that may be sent (RFC 6455, sections 5.5.1 and 7.4).
func answerClose(payload []byte) error {
	if len(payload) == 0 {
		return closeError{}
	}
	if len(payload) == 1 {
		return closeWith(1002)
	}
	code := binary.BigEndian.Uint16(payload)
	switch {
	case code < 1000, code >= 1004 && code <= 1006, code >= 1015 && code < 3000, code >= 5000:
		return closeWith(1002)
	case !utf8.Valid(payload[2:]):
		return closeWith(1007)
	}
	return closeWith(code)
}
