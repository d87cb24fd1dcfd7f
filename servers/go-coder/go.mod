module websocket-shootout/servers/go-coder

go 1.26.0

// The library under measurement.
require github.com/coder/websocket v1.8.15

// The broker's client, for several nodes.
require github.com/nats-io/nats.go v1.47.0

require (
	github.com/klauspost/compress v1.18.0 // indirect
	github.com/nats-io/nkeys v0.4.11 // indirect
	github.com/nats-io/nuid v1.0.1 // indirect
	golang.org/x/crypto v0.37.0 // indirect
	golang.org/x/sys v0.32.0 // indirect
)
