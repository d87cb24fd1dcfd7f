// Socket.IO 4 over WebSocket alone. Prints its URL.
import { createServer } from "node:http";
import { Server } from "socket.io";

const http = createServer();
const io = new Server(http, {
  transports: (process.env.TRANSPORTS ?? "websocket").split(","),
  perMessageDeflate: false,
  maxHttpBufferSize: 16 * 1024 * 1024,
  pingInterval: Number(process.env.PING_INTERVAL ?? 25000),
  pingTimeout: Number(process.env.PING_TIMEOUT ?? 20000),
});

// With AUTH set, a client must name itself as the data file has it, and no two may be the same.
const present = new Set();
io.use((socket, next) => {
  const { user, token } = socket.handshake.auth;
  if (process.env.AUTH && (token !== `${user}-token` || present.has(user))) {
    next(new Error(`${token} does not open the door`));
  } else {
    present.add(user);
    next();
  }
});

io.on("connection", (socket) => {
  socket.on("disconnect", () => present.delete(socket.handshake.auth.user));
  socket.on("echo", (payload) => socket.emit("echo", payload));
  socket.on("broadcast", (payload) => {
    io.emit("broadcast", payload);
    socket.emit("broadcastResult", payload);
  });
  socket.on("subscribe", (topic) => {
    socket.join(topic);
    socket.emit("subscribed", topic);
  });
  socket.on("unsubscribe", (topic) => {
    socket.leave(topic);
    socket.emit("unsubscribed", topic);
  });
  socket.on("publish", (topic, payload) => {
    io.to(topic).emit("message", topic, payload);
    socket.emit("publishResult", topic, payload);
  });
});

// A namespace that wants a token and acknowledges what it is sent.
const orders = io.of("/orders");
orders.use((socket, next) => {
  const { token } = socket.handshake.auth;
  next(token === "sesame" ? undefined : new Error(`${token} does not open the door`));
});
orders.on("connection", (socket) => {
  socket.on("save", (order, acknowledge) => acknowledge(order));
});

http.listen(0, "127.0.0.1", 4096, () => {
  console.log(`ws://127.0.0.1:${http.address().port}/socket.io/?EIO=4&transport=websocket`);
});
