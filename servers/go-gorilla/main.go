// Command go-gorilla-server speaks the text and binary dialects of the
// shoot-out protocol with gorilla/websocket.
//
// This file holds the command line and the HTTP side. It does not know the
// protocol (protocol.go), connections (client.go, and backlog.go for slow ones),
// who is connected (hub.go) or subscribed (topics.go). room.go and outbox.go are
// of the idiomatic variant, backlog.go is of the direct one.
package main

import (
	"crypto/tls"
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
	direct := flag.Bool("direct", false, "write broadcasts in the sender's goroutine, in place of a queue and a writing goroutine per connection")
	deflate := flag.Bool("deflate", false, "compress for clients that offer it")
	tlsCert := flag.String("tls-cert", "", "serve TLS, without -direct: PEM `file` with the certificate")
	tlsKey := flag.String("tls-key", "", "PEM `file` with the key of that certificate")
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

	if (*tlsCert == "") != (*tlsKey == "") {
		fmt.Fprintln(os.Stderr, "go-gorilla-server: -tls-cert and -tls-key belong together: give both")
		os.Exit(2)
	}
	if *tlsCert != "" && *direct {
		fmt.Fprintln(os.Stderr, "go-gorilla-server: -tls-cert goes without -direct: a write over TLS may wait")
		os.Exit(2)
	}

	upgrader.EnableCompression = *deflate
	accepting, err := net.Listen("tcp", net.JoinHostPort(*host, strconv.FormatUint(uint64(*port), 10)))
	if err != nil {
		fmt.Fprintf(os.Stderr, "go-gorilla-server: %v; choose another with -host or -port\n", err)
		os.Exit(1)
	}
	h := &hub{}
	if *direct {
		h.members, accepting = newSet(), listener{accepting.(*net.TCPListener)}
	} else {
		h.members = newRoom()
	}
	h.answer = h.request
	if *rawEcho {
		h.answer = (*client).send
	}
	// Every path is the WebSocket's: /ws as in the ancestor, / for other clients.
	server := &http.Server{Handler: http.HandlerFunc(h.serve), ReadHeaderTimeout: 10 * time.Second}
	if *tlsCert == "" {
		err = server.Serve(accepting)
	} else {
		// The library upgrades HTTP/1.1 alone, so that HTTP/2 is not offered.
		server.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
		err = server.ServeTLS(accepting, *tlsCert, *tlsKey)
	}
	fmt.Fprintln(os.Stderr, "go-gorilla-server:", err)
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
