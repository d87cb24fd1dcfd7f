package main

import (
	"bytes"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	maxBacklog = 64 << 20        // bytes, docs/protocol.md, "Limits"
	maxBatch   = 1 << 20         // bytes that are written together, about
	maxFrames  = 1024            // that writev takes
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

// batch is frames that are written together.
type batch struct {
	frames net.Buffers
	size   int // bytes in frames
}

func (b *batch) full() bool { return len(b.frames) == maxFrames || b.size >= maxBatch }

// conn is a TCP connection whose Write never waits. What the socket does not
// take at once is kept, up to maxBacklog, and written by a goroutine that lives
// until nothing is left. A connection that would keep more is cut off.
//
// It embeds the interface: a *net.TCPConn would bring along the methods by which
// net.Buffers and io.Copy write past Write.
type conn struct {
	net.Conn
	raw syscall.RawConn

	mu       sync.Mutex
	drained  sync.Cond // draining has become false
	draining bool
	backlog  []batch // what drain has still to take
	kept     int     // bytes in backlog and in drain's hands
	err      error   // of every further Write

	// Nobody changes the data frames that come now, so that Write may keep them
	// without a copy.
	shared atomic.Bool

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
	if c.err == nil && c.kept+len(rest) > maxBacklog {
		c.err = errTooSlow
		c.Conn.Close()
	}
	if c.err != nil {
		return n, c.err
	}
	if len(rest) > 0 {
		// The library may write a control frame at any time.
		if isControl := p[0]&0x08 != 0; isControl || !c.shared.Load() {
			rest = bytes.Clone(rest)
		}
		c.keep(rest)
		if !c.draining {
			c.draining = true
			go c.drain()
		}
	}
	return len(p), nil
}

func (c *conn) keep(frame []byte) {
	if n := len(c.backlog); n == 0 || c.backlog[n-1].full() {
		c.backlog = append(c.backlog, batch{})
	}
	last := &c.backlog[len(c.backlog)-1]
	last.frames = append(last.frames, frame)
	last.size += len(frame)
	c.kept += len(frame)
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
	for len(c.backlog) > 0 && c.err == nil {
		next := c.backlog[0]
		c.backlog[0] = batch{}
		c.backlog = c.backlog[1:]
		c.mu.Unlock()
		_, err := next.frames.WriteTo(c.Conn)
		c.mu.Lock()
		c.kept -= next.size
		if err != nil && c.err == nil {
			c.err = err
			c.Conn.Close()
		}
	}
	c.draining = false
	c.drained.Broadcast()
}

// SetWriteDeadline does nothing, since Write never waits. The library calls it
// before every write.
func (c *conn) SetWriteDeadline(time.Time) error { return nil }

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
