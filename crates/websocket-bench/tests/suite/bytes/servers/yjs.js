// The server of y-websocket, which passes updates of a document on to all that have it open. Prints its URL.
import { createServer } from "node:http";
import { WebSocketServer } from "ws";
import { setupWSConnection } from "y-websocket/bin/utils";

const http = createServer();
const server = new WebSocketServer({ server: http });
server.on("connection", setupWSConnection);
http.listen({ host: "127.0.0.1", port: 0, backlog: 4096 }, () => {
  console.log(`ws://127.0.0.1:${http.address().port}/`);
});
