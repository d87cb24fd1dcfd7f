// Command go-nbio-server speaks the text and binary dialects of the shoot-out
// protocol with lesismal/nbio.
//
// This file holds the command line and the HTTP side. It does not know the
// protocol (protocol.go), connections (client.go), who is connected (hub.go) or
// subscribed (topics.go).
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"

	"github.com/lesismal/nbio/logging"
	"github.com/lesismal/nbio/nbhttp"
)

const (
	library   = "github.com/lesismal/nbio"
	maxQueued = 64 << 20 // bytes, docs/protocol.md, "Limits"
)

func main() {
	host := flag.String("host", "127.0.0.1", "`host` to listen on")
	port := flag.Uint("port", 3000, "TCP `port` to listen on")
	raw := flag.Bool("raw-echo", false, "send every message back as it came, and nothing else (for Autobahn|Testsuite)")
	deflate := flag.Bool("deflate", false, "compress for clients that offer it")
	version := flag.Bool("version", false, "print the version of lesismal/nbio and exit")
	flag.Parse()

	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "go-nbio-server: unexpected argument %q; see --help for the flags\n", flag.Arg(0))
		os.Exit(2)
	}
	if *version {
		fmt.Println("lesismal/nbio", libraryVersion())
		return
	}

	h := newHub(*deflate)
	if *raw {
		h.answer = (*client).send
	}
	logging.SetLevel(logging.LevelNone) // it goes to stdout
	engine := nbhttp.NewEngine(nbhttp.Config{
		Network:            "tcp",
		Addrs:              []string{net.JoinHostPort(*host, strconv.FormatUint(uint64(*port), 10))},
		MaxWriteBufferSize: maxQueued,
		// The library gives OnMessage a buffer of its pool.
		ReleaseWebsocketPayload: true,
		Handler:                 http.HandlerFunc(h.serve),
	})
	// The library would close with 1002; the hub closes with 1007.
	engine.CheckUtf8 = func([]byte) bool { return true }
	if err := engine.Start(); err != nil {
		fmt.Fprintf(os.Stderr, "go-nbio-server: %v; choose another with --host or --port\n", err)
		os.Exit(1)
	}
	select {} // until a signal ends the process
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
