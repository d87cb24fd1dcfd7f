// AWS AppSync Events, written from its documentation: the subprotocol of a handshake, and each subscription
// and publication, has to show the API key. Events are published over WebSocket and HTTP. Prints its URL.
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { WebSocketServer } from "ws";

const KEY = "da2-sesame";
const NOT_AUTHORIZED = [{ errorType: "UnauthorizedException", message: "You are not authorized to make this call." }];
const subscriptions = new Map();

/// Whether the header in a subprotocol has the key.
function opens(protocols) {
  const header = protocols.find((name) => name.startsWith("header-"))?.slice("header-".length) ?? "";
  try {
    return JSON.parse(Buffer.from(header, "base64url"))["x-api-key"] === KEY;
  } catch {
    return false;
  }
}

/// Hands events to the subscribers of their channel, each in a message of its own.
function publish({ channel, events }) {
  for (const { socket, id, of } of subscriptions.values()) {
    for (const event of events) {
      if (of === channel) socket.send(JSON.stringify({ type: "data", id, event }));
    }
  }
  const successful = events.map((_, index) => ({ identifier: `${channel}-${index}`, index }));
  return { failed: [], successful };
}

function areEvents(events) {
  return Array.isArray(events) && events.length <= 5 && events.every((event) => typeof event === "string");
}

async function answer(request, response) {
  const reply = (status, body) => response.writeHead(status).end(JSON.stringify(body));
  const asked = await json(request);
  if (request.headers["x-api-key"] !== KEY) return reply(401, { errors: NOT_AUTHORIZED });
  if (request.url === "/event" && areEvents(asked.events)) return reply(200, publish(asked));
  reply(400, { errors: [{ errorType: "BadRequestException" }] });
}

function serve(socket) {
  const say = (message) => socket.send(JSON.stringify(message));
  let isOpen = false;
  socket.on("message", (data) => {
    const asked = JSON.parse(data);
    const { type, id, channel } = asked;
    if (type === "connection_init") {
      isOpen = true;
      say({ type: "connection_ack", connectionTimeoutMs: 300000 });
      return say({ type: "ka" });
    }
    const isKnown = isOpen && asked.authorization?.["x-api-key"] === KEY;
    if (!isKnown || !id) return say({ type: `${type}_error`, id, errors: NOT_AUTHORIZED });
    if (type === "subscribe") {
      subscriptions.set(socket, { socket, id, of: channel });
      say({ type: "subscribe_success", id });
    } else if (type === "publish" && areEvents(asked.events)) {
      say({ type: "publish_success", id, ...publish(asked) });
    }
  });
  socket.on("close", () => subscriptions.delete(socket));
}

const http = createServer(answer);
const server = new WebSocketServer({
  server: http,
  path: "/event/realtime",
  verifyClient: ({ req }) => opens((req.headers["sec-websocket-protocol"] ?? "").split(/, */)),
  handleProtocols: (names) => names.has("aws-appsync-event-ws") && "aws-appsync-event-ws",
});
server.on("connection", serve);
http.listen(0, "127.0.0.1", 4096, () => console.log(`ws://127.0.0.1:${http.address().port}/event/realtime`));
