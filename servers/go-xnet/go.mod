module websocket-shootout/servers/go-xnet

go 1.26.0

// The library under measurement. It asks for Go 1.26.
require golang.org/x/net v0.62.0
