// Home Assistant's WebSocket API: ids must rise on each connection, and a fired event reaches those that
// subscribed to its type, after its result. Prints its URL.
import { WebSocketServer } from "ws";

const server = new WebSocketServer({ host: "127.0.0.1", port: 0, backlog: 4096, path: "/api/websocket" });
const subscriptions = new Set();

server.on("connection", (socket) => {
  let last;
  const say = (message) => socket.send(JSON.stringify(message));
  const done = (id, result) => say({ id, type: "result", success: true, result });
  const fail = (id, code, message) => say({ id, type: "result", success: false, error: { code, message } });

  function enter({ type, access_token }) {
    if (type !== "auth" || access_token !== "sesame") {
      say({ type: "auth_invalid", message: "Invalid access token or password" });
      return socket.close();
    }
    last = 0;
    say({ type: "auth_ok", ha_version: "2025.4.4" });
  }

  function fire({ id, event_type, event_data }) {
    const context = { id: String(id), parent_id: null, user_id: "ann" };
    done(id, { context });
    const event = { event_type, data: event_data, origin: "LOCAL", time_fired: new Date().toISOString(), context };
    for (const to of subscriptions) {
      if (to.type === event_type) to.socket.send(JSON.stringify({ id: to.id, type: "event", event }));
    }
  }

  socket.on("message", (data) => {
    const command = JSON.parse(data);
    if (last === undefined) return enter(command);
    const { id, type } = command;
    if (!(id > last)) return fail(id, "id_reuse", "Identifier values have to increase.");
    last = id;
    if (type === "fire_event") return fire(command);
    if (type !== "subscribe_events") return fail(id, "unknown_command", "Unknown command.");
    subscriptions.add({ socket, id, type: command.event_type });
    done(id, null);
  });
  socket.on("close", () => {
    for (const of of subscriptions) if (of.socket === socket) subscriptions.delete(of);
  });
  say({ type: "auth_required", ha_version: "2025.4.4" });
});
server.on("listening", () => console.log(`ws://127.0.0.1:${server.address().port}/api/websocket`));
