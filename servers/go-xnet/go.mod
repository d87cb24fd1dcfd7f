module websocket-shootout/servers/go-xnet

go 1.19

// The library under measurement. v0.35.0 is the last release that Debian 12's
// Go 1.19 builds; see README.md.
require golang.org/x/net v0.35.0
