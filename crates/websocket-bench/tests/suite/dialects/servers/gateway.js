// A gateway of Discord's kind: a client has to identify itself and then to beat with the number of the last
// dispatch that it got, and who is silent for two intervals is closed. Messages are created over HTTP, and
// dispatched to all. INTERVAL is in milliseconds; with DEAF set, no beat is heard. Prints its URL.
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { WebSocketServer } from "ws";

const INTERVAL = Number(process.env.INTERVAL ?? 41250);
const clients = new Set();

class Client {
  constructor(socket) {
    this.socket = socket;
    this.sent = 0;
    this.beat = 0;
    this.say({ op: 10, d: { heartbeat_interval: INTERVAL } });
    this.await();
  }

  say(message) {
    this.socket.send(JSON.stringify(message));
  }

  dispatch(t, d) {
    this.say({ op: 0, t, s: ++this.sent, d });
  }

  // timed: a client beats once in an interval; a busy machine has another one, which tests make long.
  await() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.socket.close(4009, "Session timed out"), 2 * INTERVAL);
  }

  /// What a client says it got was sent to it, and is no less than what it said before.
  hear(number) {
    const last = number ?? 0;
    if (last < this.beat || last > this.sent || (number === null && this.sent > 0)) {
      return this.socket.close(4007, "Invalid seq");
    }
    this.beat = last;
    if (process.env.DEAF) return;
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
