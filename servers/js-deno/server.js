// The WebSocket server: connections, limits, delivery.

import { answer } from './protocol.js';
import { Topics } from './topics.js';

// Bytes; docs/protocol.md, "Limits".
const MAX_MESSAGE = 16 * 1024 * 1024;
const MAX_QUEUED = 64 * 1024 * 1024;

// Milliseconds until a client whose handshake is not answered by then is forgotten.
const HANDSHAKE_TIME = 10_000;

const clients = new Set();
const topics = new Topics();

/** What was sent to clients whose handshake is being answered. */
const early = new Map();

const hub = {
  send,
  publish(data, topic) {
    const to = topic === undefined ? clients : topics.subscribers(topic);
    for (const client of to) send(client, data);
  },
  subscribe: (client, topic) => topics.subscribe(client, topic),
  unsubscribe: (client, topic) => topics.unsubscribe(client, topic)
};

/**
 * Ends the program with 1 when the port cannot be had.
 *
 * @param {{host: string, port: number, 'raw-echo': boolean, 'tls-cert': string=,
 *     'tls-key': string=}} options raw-echo: every message goes back as it came;
 *     tls-cert, tls-key: the files to serve TLS with
 */
export function listen({ host, port, 'raw-echo': rawEcho, 'tls-cert': cert, 'tls-key': key }) {
  try {
    Deno.serve(
      { hostname: host, port, tcpBacklog: 4096, onListen() {}, ...tls(cert, key) },
      (request) => upgrade(request, rawEcho)
    );
  } catch (error) {
    console.error(`js-deno: ${error.message}; choose another with --host or --port`);
    Deno.exit(1);
  }
}

function tls(cert, key) {
  if (cert === undefined) return {};
  return { cert: Deno.readTextFileSync(cert), key: Deno.readTextFileSync(key) };
}

function upgrade(request, rawEcho) {
  // The library takes any version (RFC 6455, section 4.2.2).
  const { headers } = request;
  if (
    headers.get('upgrade')?.toLowerCase() !== 'websocket' ||
    headers.get('sec-websocket-version') !== '13'
  ) {
    return new Response(null, {
      status: 426,
      headers: { Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' }
    });
  }
  const { socket, response } = Deno.upgradeWebSocket(request, { idleTimeout: 0 });
  socket.binaryType = 'arraybuffer';
  // A client that has read the answer must get every broadcast from there on, and
  // onopen may come later than that.
  clients.add(socket);
  early.set(socket, []);
  const leave = () => {
    early.delete(socket);
    clients.delete(socket);
    topics.leave(socket);
  };
  // The library tells nothing of a client that goes before its handshake is answered.
  const gone = setTimeout(leave, HANDSHAKE_TIME);
  socket.onopen = () => {
    clearTimeout(gone);
    clients.add(socket);
    const messages = early.get(socket) ?? [];
    early.delete(socket);
    for (const message of messages) send(socket, message);
  };
  socket.onclose = leave;
  socket.onmessage = ({ data: received }) => {
    const data = typeof received === 'string' ? received : new Uint8Array(received);
    if (tooLarge(data)) {
      socket.close(1009);
    } else if (rawEcho) {
      send(socket, data);
    } else {
      answer(data, socket, hub);
    }
  };
  return response;
}

// The library has no limit of its own below 64 MiB. The limit is in bytes, the
// length of a string in UTF-16 units, of at most three bytes each.
function tooLarge(data) {
  if (typeof data !== 'string') return data.length > MAX_MESSAGE;
  return data.length > MAX_MESSAGE / 3 && new TextEncoder().encode(data).length > MAX_MESSAGE;
}

// After close() the socket takes no more; the library cannot cut it off.
function send(socket, data) {
  if (early.has(socket)) {
    early.get(socket).push(data);
    return;
  }
  if (socket.readyState !== WebSocket.OPEN) return;
  const queued = socket.bufferedAmount;
  if (queued > 0 && queued + data.length > MAX_QUEUED) socket.close(1008);
  else socket.send(data);
}
