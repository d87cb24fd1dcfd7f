// Socket.IO 4: a shop whose every answer is an acknowledgement, and that knows what it told whom. Prints
// its URL.
import { createServer } from "node:http";
import { randomUUID } from "node:crypto";
import { Server } from "socket.io";

const http = createServer();
const io = new Server(http, { transports: ["websocket"], perMessageDeflate: false });

let articles = 0;
io.on("connection", (socket) => {
  const shown = {};
  const to = (acknowledge, holds, answer) =>
    acknowledge(holds ? answer() : { error: "that is not what you were told" });
  socket.on("login", (user, acknowledge) => {
    shown.token = randomUUID();
    acknowledge({ token: shown.token, user });
  });
  socket.on("list", ({ token }, acknowledge) =>
    to(acknowledge, token === shown.token, () => {
      shown.id = ++articles;
      return { items: [{ id: shown.id }, { id: 0 }] };
    }),
  );
  socket.on("get", ({ token, id }, acknowledge) =>
    to(acknowledge, token === shown.token && id === shown.id, () => {
      shown.price = 100 + (id % 900);
      return { id, price: shown.price };
    }),
  );
  socket.on("buy", ({ id, price }, acknowledge) =>
    to(acknowledge, id === shown.id && price === shown.price, () => ({ bought: id })),
  );
});

http.listen(0, "127.0.0.1", 4096, () => {
  console.log(`ws://127.0.0.1:${http.address().port}/socket.io/?EIO=4&transport=websocket`);
});
