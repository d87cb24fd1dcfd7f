module websocket-shootout/servers/go-gorilla

go 1.26.0

// The library under measurement.
require github.com/gorilla/websocket v1.5.3
