package main

import (
	"errors"
	"net"
	"sync"
	"syscall"
	"time"
)

const (
	maxBacklog = 64 << 20        // bytes, docs/protocol.md, "Limits"
	batchSize  = 64 << 10        // bytes of waiting messages that are written together, about
	closeGrace = 2 * time.Second // for a peer that does not finish the closing handshake
)

var errTooSlow = errors.New("the peer reads too slowly")

// listener makes a conn of every connection that it accepts.
type listener struct{ *net.TCPListener }

func (l listener) Accept() (net.Conn, error) {
	tcp, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: tcp, raw: raw}
	c.drained.L = &c.mu
	c.try = c.write
	return c, nil
}

// conn is a TCP connection whose Write never waits. What the socket does not
// take at once is kept, up to maxBacklog, and written by a goroutine that lives
// until nothing is left. A connection that would keep more is cut off.
//
// A message behind that is not encoded before its turn: postpone keeps it as it is,
// shared with other connections, and resume writes it.
//
// It embeds the interface: a *net.TCPConn would bring along the methods by which
// net.Buffers and io.Copy write past Write.
type conn struct {
	net.Conn
	raw syscall.RawConn

	mu       sync.Mutex
	drained  sync.Cond // draining has become false
	draining bool
	backlog  []byte // what drain has still to take
	waiting  []*message
	kept     int // bytes in backlog, in drain's hands and in waiting
	resume   func()
	err      error // of every further Write

	// Argument and results of try; fields, as captured variables would be three
	// allocations for each message.
	try  func(fd uintptr) bool
	p    []byte
	n    int
	errW error
}

func (c *conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	if !c.draining && c.err == nil {
		n, c.err = c.writeNow(p)
	}
	rest := p[n:]
	if !c.keep(len(rest)) {
		return n, c.err
	}
	if len(rest) > 0 {
		c.backlog = append(c.backlog, rest...)
		if !c.draining {
			c.draining = true
			go c.drain()
		}
	}
	return len(p), nil
}

// keep makes room for n bytes. It reports false if they would exceed maxBacklog, or
// the connection has ended.
func (c *conn) keep(n int) bool {
	if c.err == nil && c.kept+n > maxBacklog {
		c.err = errTooSlow
		c.Conn.Close()
	}
	if c.err != nil {
		return false
	}
	c.kept += n
	return true
}

// postpone keeps m if it has to wait. It reports false if m can be written now.
func (c *conn) postpone(m *message) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.draining {
		return false
	}
	if c.keep(m.size()) {
		c.waiting = append(c.waiting, m)
	}
	return true
}

// next gives back a message that was postponed, or nil if it is not yet its turn.
func (c *conn) next() *message {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 || len(c.backlog) >= batchSize || c.err != nil {
		return nil
	}
	m := c.waiting[0]
	c.waiting[0] = nil
	c.waiting = c.waiting[1:]
	c.kept -= m.size()
	return m
}

// onResume says what writes the messages that next gives back.
func (c *conn) onResume(resume func()) {
	c.mu.Lock()
	c.resume = resume
	c.mu.Unlock()
}

// writeNow writes what the socket takes without waiting.
func (c *conn) writeNow(p []byte) (int, error) {
	c.p = p
	err := c.raw.Write(c.try)
	c.p = nil
	switch {
	case err != nil:
		return 0, err
	case c.errW == syscall.EAGAIN || c.errW == syscall.EINTR:
		return 0, nil
	case c.errW != nil:
		return 0, c.errW
	}
	return c.n, nil
}

func (c *conn) write(fd uintptr) bool {
	c.n, c.errW = syscall.Write(int(fd), c.p)
	return true
}

// drain writes the backlog, and waits for the peer as long as it takes.
func (c *conn) drain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.kept > 0 && c.err == nil {
		if len(c.backlog) == 0 {
			resume := c.resume
			c.mu.Unlock()
			resume()
			c.mu.Lock()
			continue
		}
		batch := c.backlog
		c.backlog = nil
		c.mu.Unlock()
		_, err := c.Conn.Write(batch)
		c.mu.Lock()
		c.kept -= len(batch)
		if err != nil && c.err == nil {
			c.err = err
			c.Conn.Close()
		}
	}
	c.draining = false
	c.drained.Broadcast()
}

// CloseWrite ends the sending half behind the backlog. It waits for the peer for
// closeGrace at most.
func (c *conn) CloseWrite() error {
	tcp := c.Conn.(*net.TCPConn)
	tcp.SetWriteDeadline(time.Now().Add(closeGrace))
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.draining {
		c.drained.Wait()
	}
	if c.err != nil {
		return c.err
	}
	c.err = net.ErrClosed
	return tcp.CloseWrite()
}
