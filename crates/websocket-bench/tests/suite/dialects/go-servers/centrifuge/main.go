// A server made with Centrifuge, the library of Centrifugo: clients may subscribe and publish to any
// channel, and the procedure `echo` returns its data. It has the method `publish` of Centrifugo's HTTP API.
// Prints its URL.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"

	"github.com/centrifugal/centrifuge"
)

func main() {
	node, err := centrifuge.New(centrifuge.Config{})
	if err != nil {
		log.Fatal(err)
	}
	node.OnConnecting(func(context.Context, centrifuge.ConnectEvent) (centrifuge.ConnectReply, error) {
		return centrifuge.ConnectReply{Credentials: &centrifuge.Credentials{}}, nil
	})
	node.OnConnect(func(client *centrifuge.Client) {
		client.OnSubscribe(func(_ centrifuge.SubscribeEvent, done centrifuge.SubscribeCallback) {
			done(centrifuge.SubscribeReply{}, nil)
		})
		client.OnPublish(func(_ centrifuge.PublishEvent, done centrifuge.PublishCallback) {
			done(centrifuge.PublishReply{}, nil)
		})
		client.OnRPC(func(call centrifuge.RPCEvent, done centrifuge.RPCCallback) {
			done(centrifuge.RPCReply{Data: call.Data}, nil)
		})
	})
	if err := node.Run(); err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("/connection/websocket", centrifuge.NewWebsocketHandler(node, centrifuge.WebsocketConfig{
		MessageSizeLimit: 1 << 20,
	}))
	http.HandleFunc("/api/publish", func(answer http.ResponseWriter, request *http.Request) {
		var asked struct {
			Channel string
			Data    json.RawMessage
		}
		if request.Header.Get("X-API-Key") != "the-api-key" {
			answer.WriteHeader(http.StatusUnauthorized)
		} else if json.NewDecoder(request.Body).Decode(&asked) != nil {
			answer.WriteHeader(http.StatusBadRequest)
		} else if _, err := node.Publish(asked.Channel, asked.Data); err != nil {
			answer.WriteHeader(http.StatusInternalServerError)
		} else {
			fmt.Fprint(answer, `{"result":{}}`)
		}
	})
	fmt.Printf("ws://%s/connection/websocket\n", listener.Addr())
	log.Fatal(http.Serve(listener, nil))
}
