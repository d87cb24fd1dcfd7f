// The WebSocket server: connections, limits, delivery.

import { Hono } from 'hono';
import { upgradeWebSocket, websocket } from 'hono/bun';
import { answer, EVERYONE } from './protocol.js';

const MIB = 1024 * 1024;

/**
 * Ends the program with 1 when the port cannot be had.
 *
 * @param {{host: string, port: number, 'raw-echo': boolean}} options raw-echo: every
 *     message goes back as it came
 */
export function listen({ host, port, 'raw-echo': rawEcho }) {
  const publish = (topic, data) => server.publish(topic, data);
  const handlers = {
    onOpen: (_, ws) => ws.raw.subscribe(EVERYONE),
    onMessage: rawEcho
      ? ({ data }, ws) => ws.raw.send(data)
      : ({ data }, ws) => answer(message(data), ws.raw, publish)
  };
  const app = new Hono().get('/ws', upgradeWebSocket(() => handlers));
  let server;
  try {
    server = Bun.serve({
      hostname: host,
      port,
      fetch: app.fetch,
      websocket: {
        ...websocket,
        // Bytes; docs/protocol.md, "Limits".
        maxPayloadLength: 16 * MIB,
        backpressureLimit: 64 * MIB,
        closeOnBackpressureLimit: true,
        idleTimeout: 0,
        sendPings: false,
        perMessageDeflate: false
      }
    });
  } catch (error) {
    console.error(`js-hono: ${error.message}; choose another with --host or --port`);
    process.exit(1);
  }
}

/** Hono hands binary messages over as an ArrayBuffer. */
function message(data) {
  return typeof data === 'string' ? data : Buffer.from(data);
}
