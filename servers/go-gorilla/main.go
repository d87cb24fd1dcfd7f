// Command go-gorilla-server speaks the text and binary dialects of the
// shoot-out protocol with gorilla/websocket.
//
// This file holds the command line and the HTTP side. It does not know the
// protocol (protocol.go), connections (client.go, and backlog.go for slow ones)
// or who is connected (hub.go). room.go and outbox.go are the idiomatic variant.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

const library = "github.com/gorilla/websocket"

// The buffer advice is from the package documentation, section "Buffers": read
// buffers near the usual message size, and pooled write buffers for a modest
// number of writes over a large number of connections.
var upgrader = websocket.Upgrader{
	ReadBufferSize:  1024,
	WriteBufferPool: &sync.Pool{},
	// Load generators send any Origin or none.
	CheckOrigin: func(*http.Request) bool { return true },
}

func main() {
	host := flag.String("host", "127.0.0.1", "`host` to listen on")
	flag.StringVar(host, "address", *host, "the same as -host: a `host`")
	port := flag.Uint("port", 3000, "TCP `port` to listen on")
	rawEcho := flag.Bool("raw-echo", false, "send every message back as it came, and nothing else (for Autobahn|Testsuite)")
	idiomatic := flag.Bool("idiomatic", false, "a hub, and a queue and a writing goroutine per connection, as in the library's chat example")
	version := flag.Bool("version", false, "print the version of gorilla/websocket and exit")
	flag.Parse()

	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "go-gorilla-server: unexpected argument %q; see -help for the flags\n", flag.Arg(0))
		os.Exit(2)
	}
	if *version {
		fmt.Println("gorilla/websocket", libraryVersion())
		return
	}

	tcp, err := net.Listen("tcp", net.JoinHostPort(*host, strconv.FormatUint(uint64(*port), 10)))
	if err != nil {
		fmt.Fprintf(os.Stderr, "go-gorilla-server: %v; choose another with -host or -port\n", err)
		os.Exit(1)
	}
	h := &hub{members: &set{clients: make(map[*client]struct{})}}
	var accepting net.Listener = listener{tcp.(*net.TCPListener)}
	if *idiomatic {
		h.members, accepting = newRoom(), tcp
	}
	h.answer = h.request
	if *rawEcho {
		h.answer = (*client).send
	}
	// Every path is the WebSocket's: /ws as in the ancestor, / for other clients.
	server := &http.Server{Handler: http.HandlerFunc(h.serve), ReadHeaderTimeout: 10 * time.Second}
	fmt.Fprintln(os.Stderr, "go-gorilla-server:", server.Serve(accepting))
	os.Exit(1)
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
