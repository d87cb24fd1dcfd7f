// Command go-coder-server speaks the text and binary dialects of the shoot-out
// protocol with coder/websocket.
//
// This file holds the command line and the HTTP side. It does not know the
// protocol (protocol.go), connections (client.go, and outbox.go for what they
// have still to write), who is connected (hub.go) or subscribed (topics.go), or other
// nodes (nodes.go).
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
	"time"
)

const library = "github.com/coder/websocket"

func main() {
	host := flag.String("host", "127.0.0.1", "`host` to listen on")
	port := flag.Uint("port", 3000, "TCP `port` to listen on")
	raw := flag.Bool("raw-echo", false, "send every message back as it came, and nothing else (for Autobahn|Testsuite)")
	deflate := flag.Bool("deflate", false, "compress for clients that offer it")
	tlsCert := flag.String("tls-cert", "", "serve TLS: PEM `file` with the certificate")
	tlsKey := flag.String("tls-key", "", "PEM `file` with the key of that certificate")
	nats := flag.String("nats", "", "be one of several nodes, which reach each other through NATS at this `URL`")
	version := flag.Bool("version", false, "print the version of coder/websocket and exit")
	flag.Parse()

	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "go-coder-server: unexpected argument %q; see --help for the flags\n", flag.Arg(0))
		os.Exit(2)
	}
	if *version {
		fmt.Println("coder/websocket", libraryVersion())
		return
	}

	if (*tlsCert == "") != (*tlsKey == "") {
		fmt.Fprintln(os.Stderr, "go-coder-server: --tls-cert and --tls-key belong together: give both")
		os.Exit(2)
	}

	listener, err := net.Listen("tcp", net.JoinHostPort(*host, strconv.FormatUint(uint64(*port), 10)))
	if err != nil {
		fmt.Fprintf(os.Stderr, "go-coder-server: %v; choose another with --host or --port\n", err)
		os.Exit(1)
	}
	h := newHub(*deflate)
	if *raw {
		h.answer = rawEcho
	}
	if *nats != "" {
		if h.nodes, err = join(*nats, h); err != nil {
			fmt.Fprintf(os.Stderr, "go-coder-server: NATS at %s: %v\n", *nats, err)
			os.Exit(1)
		}
	}
	server := &http.Server{Handler: http.HandlerFunc(h.serve), ReadHeaderTimeout: 10 * time.Second}
	if *tlsCert == "" {
		err = server.Serve(listener)
	} else {
		// The library upgrades HTTP/1.1 alone, so that HTTP/2 is not offered.
		server.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
		err = server.ServeTLS(listener, *tlsCert, *tlsKey)
	}
	fmt.Fprintln(os.Stderr, "go-coder-server:", err)
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
