module websocket-shootout/servers/go-coder

go 1.23

// The library under measurement. It asks for Go 1.23.
require github.com/coder/websocket v1.8.15
