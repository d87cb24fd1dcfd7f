// Command go-websocket-server speaks the text and binary dialects of the
// shoot-out protocol with golang.org/x/net/websocket.
//
// This file holds the command line and the HTTP side. It does not know the
// protocol (protocol.go), messages and their frames (frames.go), connections
// (client.go, and backlog.go for slow ones), who is connected (hub.go) or
// subscribed (topics.go). room.go and outbox.go are the idiomatic variant.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"time"
)

const library = "golang.org/x/net"

func main() {
	host := flag.String("host", "127.0.0.1", "`host` to listen on")
	flag.StringVar(host, "address", *host, "the same as -host: a `host`")
	port := flag.Uint("port", 3000, "TCP `port` to listen on")
	rawEcho := flag.Bool("raw-echo", false, "send every message back as it came, and nothing else (for Autobahn|Testsuite)")
	idiomatic := flag.Bool("idiomatic", false, "a hub, and a queue and a writing goroutine per connection")
	version := flag.Bool("version", false, "print the version of golang.org/x/net and exit")
	flag.Parse()

	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "go-websocket-server: unexpected argument %q; see -help for the flags\n", flag.Arg(0))
		os.Exit(2)
	}
	if *version {
		fmt.Println("golang.org/x/net", libraryVersion())
		return
	}

	tcp, err := net.Listen("tcp", net.JoinHostPort(*host, strconv.FormatUint(uint64(*port), 10)))
	if err != nil {
		fmt.Fprintf(os.Stderr, "go-websocket-server: %v; choose another with -host or -port\n", err)
		os.Exit(1)
	}
	h := &hub{newSet()}
	var accepting net.Listener = listener{tcp.(*net.TCPListener)}
	if *idiomatic {
		h.members, accepting = newRoom(), tcp
	}
	server := &http.Server{
		Handler:           paths(h, *rawEcho),
		ReadHeaderTimeout: 10 * time.Second,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
	}
	fmt.Fprintln(os.Stderr, "go-websocket-server:", server.Serve(accepting))
	os.Exit(1)
}

func paths(h *hub, rawEcho bool) http.Handler {
	mux := http.NewServeMux()
	if rawEcho {
		mux.Handle("/", h.serve((*client).send))
		return mux
	}
	// Every path but these two is the WebSocket's: /ws as in the ancestor, / for
	// other clients.
	mux.Handle("/", h.serve(h.request))
	mux.Handle("/json", h.serve(only(textMessage, h.text)))
	mux.Handle("/binary", h.serve(only(binaryMessage, h.binary)))
	return mux
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
