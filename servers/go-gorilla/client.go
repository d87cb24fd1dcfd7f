package main

import (
	"io"
	"net"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

const maxMessage = 16 << 20 // bytes, docs/protocol.md, "Limits"

// client is one connection. Any goroutine may send to it; no send waits for the
// peer, and none reports an error: the reader meets it too.
type client struct {
	mu   sync.Mutex      // the library allows one writer at a time
	conn *websocket.Conn // nil when the handshake has failed

	topics map[string]struct{} // what it is subscribed to; nil before its first

	// Of the idiomatic variant (room.go), nil otherwise.
	out     *outbox
	written chan struct{} // closed when nothing writes any more
}

// send may keep data.
func (c *client) send(kind int, data []byte) {
	if c.out != nil {
		c.queue(outgoing{kind, data})
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn.NetConn().(*conn).shared.Store(false)
	c.conn.WriteMessage(kind, data)
}

func (c *client) sendPrepared(m *websocket.PreparedMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		return
	}
	c.conn.NetConn().(*conn).shared.Store(true)
	c.conn.WritePreparedMessage(m)
}

// readMessage is conn.ReadMessage, and at most one byte more than the largest
// message: the library's own limit is for the bytes of a compressed message, not
// for what they become.
func (c *client) readMessage() (int, []byte, error) {
	if !upgrader.EnableCompression {
		return c.conn.ReadMessage()
	}
	kind, reader, err := c.conn.NextReader()
	if err != nil {
		return kind, nil, err
	}
	data, err := io.ReadAll(io.LimitReader(reader, maxMessage+1))
	return kind, data, err
}

func (c *client) close(code int) {
	c.send(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""))
}

// halfCloser is the TCP connection or the TLS connection on it; in the direct variant
// a conn.
type halfCloser interface {
	net.Conn
	CloseWrite() error
}

// finish ends the connection after its last message was read. Closing a socket
// that holds unread input resets it, and the peer may then never see the close
// frame; so the sending half is closed first and the input read to its end.
func (c *client) finish() {
	defer c.conn.Close()
	tcp := c.conn.NetConn().(halfCloser)
	if c.out != nil {
		// The library sets the deadline of each write anew, so that one set here
		// would not last.
		timer := time.AfterFunc(closeGrace, func() { tcp.Close() })
		c.out.end()
		<-c.written
		timer.Stop()
	}
	if tcp.CloseWrite() == nil {
		tcp.SetReadDeadline(time.Now().Add(closeGrace))
		io.Copy(io.Discard, tcp)
	}
}
