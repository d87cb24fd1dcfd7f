// Command go-fiber-server speaks the text and binary dialects of the shoot-out
// protocol with Fiber's websocket middleware.
//
// This file holds the command line and the routes. It does not know the protocol
// (protocol.go), connections (client.go), what waits for them (outbox.go), who is
// connected (hub.go) or subscribed (topics.go).
package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"strconv"

	"github.com/gofiber/contrib/websocket"
	"github.com/gofiber/fiber/v2"
)

const library = "github.com/gofiber/contrib/websocket"

func main() {
	host := flag.String("host", "127.0.0.1", "`host` to listen on")
	port := flag.Uint("port", 3000, "TCP `port` to listen on")
	version := flag.Bool("version", false, "print the versions of the middleware and of Fiber and exit")
	flag.Parse()

	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "go-fiber-server: unexpected argument %q; see --help for the flags\n", flag.Arg(0))
		os.Exit(2)
	}
	if *version {
		fmt.Printf("gofiber/contrib/websocket %s (fiber v%s)\n", libraryVersion(), fiber.Version)
		return
	}

	listener, err := net.Listen("tcp", net.JoinHostPort(*host, strconv.FormatUint(uint64(*port), 10)))
	if err != nil {
		fmt.Fprintf(os.Stderr, "go-fiber-server: %v; choose another with --host or --port\n", err)
		os.Exit(1)
	}
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	h := newHub()
	app.Get("/ws", h.join, websocket.New(h.serve))
	app.Get("/raw", websocket.New(rawEcho))
	fmt.Fprintln(os.Stderr, "go-fiber-server:", app.Listener(listener))
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
