// Sends every text back as it came, as the echo services of many tutorials do. Prints its URL.
import { WebSocketServer } from "ws";

const server = new WebSocketServer({ host: "127.0.0.1", port: 0, backlog: 4096 });
server.on("connection", (socket) => {
  socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
});
server.on("listening", () => console.log(`ws://127.0.0.1:${server.address().port}/`));
