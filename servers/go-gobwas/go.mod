module websocket-shootout/servers/go-gobwas

go 1.26.0

// The library under measurement. It asks for Go 1.26.
require github.com/gobwas/ws v1.5.0

require github.com/gobwas/httphead v0.1.0 // indirect
