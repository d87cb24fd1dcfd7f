// A WAMP router with one realm, in which the procedure `bench.echo` returns its arguments, in the order of
// the calls. Prints its URL.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"

	"github.com/gammazero/nexus/v3/router"
	"github.com/gammazero/nexus/v3/transport"
	"github.com/gammazero/nexus/v3/wamp"
)

const (
	realm = "realm1"
	// Messages that wait for a client, beyond which the router drops those that follow.
	queue = 4096
)

// The client of nexus answers calls side by side; this one answers them one after the other.
func answer(calls wamp.Peer) {
	calls.Send() <- &wamp.Hello{Realm: realm, Details: wamp.Dict{"roles": wamp.Dict{"callee": wamp.Dict{}}}}
	for message := range calls.Recv() {
		switch message := message.(type) {
		case *wamp.Welcome:
			calls.Send() <- &wamp.Register{Request: 1, Procedure: "bench.echo"}
		case *wamp.Registered:
			listen()
		case *wamp.Invocation:
			calls.Send() <- &wamp.Yield{
				Request: message.Request, Arguments: message.Arguments, ArgumentsKw: message.ArgumentsKw,
			}
		}
	}
}

var (
	server *router.WebsocketServer
	// The router says a line for each client that leaves.
	quiet = log.New(io.Discard, "", 0)
)

func listen() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("ws://%s/ws\n", listener.Addr())
	serving := &http.Server{Handler: server, ErrorLog: quiet}
	go func() { log.Fatal(serving.Serve(listener)) }()
}

func main() {
	nexus, err := router.NewRouter(&router.Config{
		RealmConfigs: []*router.RealmConfig{{URI: realm, AnonymousAuth: true, StrictURI: true}},
	}, quiet)
	if err != nil {
		log.Fatal(err)
	}
	server = router.NewWebsocketServer(nexus)
	server.OutQueueSize = queue
	callee, end := transport.LinkedPeersQSize(queue)
	go func() {
		if err := nexus.Attach(end); err != nil {
			log.Fatal(err)
		}
	}()
	answer(callee)
}
