// The WebSocket server: connections, limits, delivery.

import { Elysia } from 'elysia';
import { answer, EVERYONE } from './protocol.js';

const MIB = 1024 * 1024;

/**
 * Ends the program with 1 when the port cannot be had.
 *
 * @param {{host: string, port: number}} options
 */
export function listen({ host, port }) {
  const app = new Elysia({
    serve: { reusePort: false, development: false },
    websocket: {
      // Bytes; docs/protocol.md, "Limits".
      maxPayloadLength: 16 * MIB,
      backpressureLimit: 64 * MIB,
      closeOnBackpressureLimit: true,
      idleTimeout: 0,
      sendPings: false,
      perMessageDeflate: false
    }
  });
  const publish = (topic, data) => app.server.publish(topic, data);
  app.ws('/ws', {
    open(ws) {
      ws.subscribe(EVERYONE);
    },
    message: (ws, message) => answer(message, ws, publish)
  });
  try {
    app.listen({ hostname: host, port });
  } catch (error) {
    console.error(`js-elysia: ${error.message}; choose another with --host or --port`);
    process.exit(1);
  }
}
