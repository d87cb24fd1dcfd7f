// A chat whose messages are MessagePack: what one says the others of its room hear, and the one that says
// it is told that it was said. Prints its URL.
import { decode, encode } from "@msgpack/msgpack";
import { WebSocketServer } from "ws";

const server = new WebSocketServer({ host: "127.0.0.1", port: 0, backlog: 4096 });
server.on("connection", (socket) => {
  socket.on("message", (data) => {
    const { op, room, id, text } = decode(data);
    if (op === "join") {
      socket.room = room;
      return socket.send(encode({ op: "joined", room }));
    }
    const said = encode({ op: "said", room, id, text });
    for (const each of server.clients) if (each.room === room) each.send(said);
    socket.send(encode({ op: "sent", id }));
  });
});
server.on("listening", () => console.log(`ws://127.0.0.1:${server.address().port}/`));
