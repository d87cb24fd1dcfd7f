package main

import (
	"bufio"
	"bytes"
	"io"
)

// handshake is what the library upgrades. It reads ahead into a buffer that it
// drops with the handshake; so it gets no more than a line at a time, and what
// the client has sent behind its request stays in the reader of the connection.
type handshake struct {
	in *bufio.Reader
	io.Writer
}

func (h handshake) Read(p []byte) (int, error) {
	if _, err := h.in.Peek(1); err != nil {
		return 0, err
	}
	line, err := h.in.Peek(min(len(p), h.in.Buffered()))
	if err != nil {
		return 0, err
	}
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end+1]
	}
	n := copy(p, line)
	_, err = h.in.Discard(n)
	return n, err
}
