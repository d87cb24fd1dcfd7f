package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
)

const (
	maxMessage = 16 << 20        // bytes, docs/protocol.md, "Limits"
	closeGrace = 2 * time.Second // for a peer that does not finish the closing handshake
)

// client is one connection: the goroutine of read, and that of write.
type client struct {
	conn    *net.TCPConn
	in      *bufio.Reader // of conn, from the handshake on
	out     outbox
	written chan struct{} // closed when write has returned

	topics map[string]struct{} // what it is subscribed to; nil before its first
}

func newClient(conn *net.TCPConn) *client {
	c := &client{conn: conn, in: bufio.NewReader(conn), written: make(chan struct{})}
	c.out.filled.L = &c.out.mu
	return c
}

// send queues a frame. A client that has not read what was queued before is cut
// off.
func (c *client) send(frame []byte) {
	if !c.out.put(frame, false) {
		c.conn.Close()
	}
}

// close queues a close frame, behind which nothing may be sent.
func (c *client) close(frame []byte) {
	if !c.out.put(frame, true) {
		c.conn.Close()
	}
}

// write writes what is queued until the outbox or the connection ends. What has
// piled up is flushed once.
func (c *client) write() {
	defer close(c.written)
	out := bufio.NewWriter(c.conn)
	var frames [][]byte
	for {
		frames = c.out.take(frames)
		if len(frames) == 0 {
			c.conn.CloseWrite()
			return
		}
		for i, frame := range frames {
			// Its error is that of Flush.
			out.Write(frame)
			c.out.wrote(len(frame))
			frames[i] = nil
		}
		if out.Flush() != nil {
			c.out.end()
			c.conn.Close()
			return
		}
	}
}

// read has c's messages answered until the connection ends, and queues the close
// frame if that end asks for one.
func (c *client) read(answer func(c *client, op ws.OpCode, data []byte)) {
	reader := wsutil.DefaultReader(c.in, ws.StateServerSide)
	reader.OnIntermediate = c.control
	for {
		op, data, err := c.next(reader)
		var violation ws.ProtocolError
		switch {
		case err == nil && op.IsData():
			answer(c, op, data)
		case err == nil:
		case errors.Is(err, wsutil.ErrMessageTooLarge):
			c.close(ws.CompiledCloseMessageTooBig)
			return
		case errors.Is(err, wsutil.ErrInvalidUTF8):
			c.close(ws.CompiledCloseInvalidFramePayloadData)
			return
		case errors.As(err, &violation):
			c.close(ws.CompiledCloseProtocolError)
			return
		default:
			return
		}
	}
}

// next reads a message, or a control frame between two messages.
func (c *client) next(reader *wsutil.Reader) (ws.OpCode, []byte, error) {
	header, err := reader.NextFrame()
	if err != nil {
		return 0, nil, err
	}
	if header.OpCode.IsControl() {
		return header.OpCode, nil, c.control(header, reader)
	}
	data, err := io.ReadAll(reader)
	return header.OpCode, data, err
}

// control answers a control frame. The library may write its answer in two parts,
// between which no other frame may come; so they are put together first.
func (c *client) control(header ws.Header, payload io.Reader) error {
	var answer bytes.Buffer
	err := wsutil.ControlFrameHandler(&answer, ws.StateServerSide)(header, payload)
	switch {
	case answer.Len() == 0:
	case header.OpCode == ws.OpClose:
		c.close(answer.Bytes())
	default:
		c.send(answer.Bytes())
	}
	return err
}

// finish ends the connection after its last message was read. Closing a socket
// that holds unread input resets it, and the peer may then never see the close
// frame; so the sending half is closed first and the input read to its end.
func (c *client) finish() {
	defer c.conn.Close()
	c.conn.SetDeadline(time.Now().Add(closeGrace))
	c.out.end()
	<-c.written
	io.Copy(io.Discard, c.conn)
}
