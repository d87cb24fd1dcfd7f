// The WebSocket server: connections, limits, delivery.

import { answer, EVERYONE } from './protocol.js';

const MIB = 1024 * 1024;

/**
 * Ends the program with 1 when the port cannot be had.
 *
 * @param {{host: string, port: number, 'raw-echo': boolean}} options raw-echo:
 *     every message goes back as it came
 */
export function listen({ host, port, 'raw-echo': rawEcho }) {
  const publish = (topic, data) => server.publish(topic, data);
  let server;
  try {
    server = Bun.serve({
      hostname: host,
      port,
      fetch: upgrade,
      websocket: {
        // Bytes; docs/protocol.md, "Limits".
        maxPayloadLength: 16 * MIB,
        backpressureLimit: 64 * MIB,
        closeOnBackpressureLimit: true,
        idleTimeout: 0,
        sendPings: false,
        perMessageDeflate: false,
        open(ws) {
          ws.subscribe(EVERYONE);
        },
        message: rawEcho
          ? (ws, message) => ws.send(message)
          : (ws, message) => answer(message, ws, publish)
      }
    });
  } catch (error) {
    console.error(`js-bun: ${error.message}; choose another with --host or --port`);
    process.exit(1);
  }
}

function upgrade(request, server) {
  if (server.upgrade(request)) return undefined;
  return new Response(null, { status: 426, headers: { Upgrade: 'websocket' } });
}
