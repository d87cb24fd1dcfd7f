// A hub of SignalR: `Send` calls `ReceiveMessage` of all clients, and `Echo` returns its argument. Prints
// its URL.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	kit "github.com/go-kit/log"
	"github.com/philippseith/signalr"
)

type chat struct{ signalr.Hub }

func (c *chat) Send(message any) {
	c.Clients().All().Send("ReceiveMessage", message)
}

func (c *chat) Echo(message any) any {
	return message
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	server, err := signalr.NewServer(context.Background(),
		signalr.SimpleHubFactory(&chat{}),
		signalr.KeepAliveInterval(time.Second),
		signalr.TimeoutInterval(time.Minute),
		signalr.MaximumReceiveMessageSize(1<<17),
		signalr.Logger(kit.NewNopLogger(), false),
	)
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	server.MapHTTP(signalr.WithHTTPServeMux(mux), "/chathub")
	fmt.Printf("ws://%s/chathub\n", listener.Addr())
	log.Fatal(http.Serve(listener, mux))
}
