// A gateway of Discord's kind: a client has to identify itself and then to beat with the number of the last
// dispatch that it got, and one that is silent is closed. Messages are created over HTTP, and dispatched to
// all. INTERVAL, and GRACE behind it, are in milliseconds. Prints its URL.
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { WebSocketServer } from "ws";

const INTERVAL = Number(process.env.INTERVAL ?? 41250);
const GRACE = Number(process.env.GRACE ?? 20000);
const clients = new Set();

class Client {
  constructor(socket) {
    this.socket = socket;
    this.sent = 0;
    this.beats = [0, 0];
    this.say({ op: 10, d: { heartbeat_interval: INTERVAL } });
    this.await();
  }

  say(message) {
    this.socket.send(JSON.stringify(message));
  }

  dispatch(t, d) {
    this.say({ op: 0, t, s: ++this.sent, d });
  }

  // timed: tests that want a client to stay give a grace that is longer than any delay of a busy machine.
  await() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.socket.close(4009, "Session timed out"), INTERVAL + GRACE);
  }

  /// What a client says it got was sent to it; what was sent before the last beat but one it has read.
  hear(number) {
    const due = this.beats.shift();
    if (!(number >= due && number <= this.sent)) return this.socket.close(4007, "Invalid seq");
    this.beats.push(this.sent);
    this.await();
    this.say({ op: 11 });
  }

  identify({ token }) {
    if (token !== "sesame") return this.socket.close(4004, "Authentication failed");
    clients.add(this);
    this.dispatch("READY", { v: 10, session_id: "s" });
  }
}

const http = createServer(async (request, response) => {
  const { content } = await json(request);
  const reply = (status, body) => response.writeHead(status).end(JSON.stringify(body));
  if (request.headers.authorization !== "Bot sesame") return reply(401, { message: "401: Unauthorized", code: 0 });
  const [, channel_id] = request.url.match(/^\/api\/v10\/channels\/(\d+)\/messages$/);
  const message = { id: "1", channel_id, content, author: { id: "2" } };
  for (const client of clients) client.dispatch("MESSAGE_CREATE", message);
  reply(200, message);
});
const server = new WebSocketServer({ server: http });
server.on("connection", (socket) => {
  const client = new Client(socket);
  socket.on("message", (data) => {
    const { op, d } = JSON.parse(data);
    if (op === 1) client.hear(d);
    if (op === 2) client.identify(d);
  });
  socket.on("close", () => {
    clearTimeout(client.timer);
    clients.delete(client);
  });
});
http.listen(0, "127.0.0.1", 4096, () => console.log(`ws://127.0.0.1:${http.address().port}/?v=10&encoding=json`));
