// Command go-gobwas-server speaks the text and binary dialects of the shoot-out
// protocol with gobwas/ws.
//
// This file holds the command line and the listener. It does not know the
// protocol (protocol.go), connections (client.go, and outbox.go for what they
// have still to write), who is connected (hub.go) or subscribed (topics.go).
package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/gobwas/ws/wsutil"
)

const library = "github.com/gobwas/ws"

func main() {
	host := flag.String("host", "127.0.0.1", "`host` to listen on")
	port := flag.Uint("port", 3000, "TCP `port` to listen on")
	raw := flag.Bool("raw-echo", false, "send every message back as it came, and nothing else (for Autobahn|Testsuite)")
	version := flag.Bool("version", false, "print the version of gobwas/ws and exit")
	flag.Parse()

	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "go-gobwas-server: unexpected argument %q; see --help for the flags\n", flag.Arg(0))
		os.Exit(2)
	}
	if *version {
		fmt.Println("gobwas/ws", libraryVersion())
		return
	}

	listener, err := net.Listen("tcp", net.JoinHostPort(*host, strconv.FormatUint(uint64(*port), 10)))
	if err != nil {
		fmt.Fprintf(os.Stderr, "go-gobwas-server: %v; choose another with --host or --port\n", err)
		os.Exit(1)
	}
	wsutil.SetMaxMessageSize(maxMessage)
	h := newHub()
	if *raw {
		h.answer = rawEcho
	}
	for {
		conn, err := listener.(*net.TCPListener).AcceptTCP()
		if err != nil {
			// Most likely out of file descriptors, which may come back.
			fmt.Fprintln(os.Stderr, "go-gobwas-server:", err)
			time.Sleep(5 * time.Millisecond)
			continue
		}
		go h.serve(conn)
	}
}

// libraryVersion is the version that the linker recorded in this program.
func libraryVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == library {
				return module.Version
			}
		}
	}
	return "unknown"
}
