// Fastify: clients log in and negotiate over HTTP before they connect, and a backend publishes over HTTP, to
// all or to a topic. Prints its URL. With CERT and KEY it speaks TLS, with SOCKET it listens there.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import Fastify from "fastify";
import cookie from "@fastify/cookie";
import websocket from "@fastify/websocket";

const { CERT, KEY, SOCKET } = process.env;
const app = Fastify(CERT ? { https: { cert: readFileSync(CERT), key: readFileSync(KEY) } } : {});
await app.register(cookie);
await app.register(websocket, { options: { maxPayload: 16 * 1024 * 1024 } });

const sessions = new Map();
const tickets = new Map();
const clients = new Set();
// The topic of each client that has one.
const topics = new Map();

app.post("/login", async (request, reply) => {
  const { user, password } = request.body;
  if (password !== `password of ${user}`) {
    return reply.code(401).send(`${user} has not the password ${password}\nand may not enter`);
  }
  const token = randomUUID();
  sessions.set(token, user);
  return reply.setCookie("session", token, { path: "/", httpOnly: true }).send({ access_token: token, user });
});

// A ticket opens the door once, to the session that it was given to.
app.get("/negotiate", async (request, reply) => {
  const token = request.headers.authorization?.replace("Bearer ", "");
  if (!sessions.has(token) || request.cookies.session !== token) return reply.code(403).send("who is this?");
  const ticket = randomUUID();
  tickets.set(ticket, token);
  return { connection: { ticket } };
});

app.post("/publish", async (request, reply) => {
  if (request.headers["x-api-key"] !== "the key of the backend") return reply.code(403).send("no");
  const { topic, data } = request.body;
  const message = JSON.stringify({ type: "news", topic, data });
  const told = [...clients].filter((socket) => !topic || topics.get(socket) === topic);
  for (const socket of told) socket.send(message);
  return reply.code(202).send({ told: told.length });
});

app.get("/hub", { websocket: true }, (socket, request) => {
  const { ticket } = request.query;
  const token = tickets.get(ticket);
  if (!token || request.cookies.session !== token) return socket.close(4001, "no such ticket");
  tickets.delete(ticket);
  clients.add(socket);
  socket.on("close", () => clients.delete(socket) && topics.delete(socket));
  socket.on("message", (data) => {
    const message = JSON.parse(data);
    if (message.token !== token) return socket.close(4003, "another's token");
    if (message.topic) {
      topics.set(socket, message.topic);
      return socket.send(JSON.stringify({ type: "subscribed", topic: message.topic }));
    }
    socket.send(JSON.stringify({ type: "echo", payload: message.payload }));
  });
  socket.send('{"type":"welcome"}');
});

await app.listen({ ...(SOCKET ? { path: SOCKET } : { port: 0, host: "127.0.0.1" }), backlog: 4096 });
console.log(SOCKET ? "ws://localhost/hub" : `ws://127.0.0.1:${app.server.address().port}/hub`);
