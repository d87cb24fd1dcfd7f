// The WebSocket server: connections, limits, delivery.

import { answer } from './protocol.js';

const MIB = 1024 * 1024;
const TOPIC = 'broadcast';

/**
 * Ends the program with 1 when the port cannot be had.
 *
 * @param {{host: string, port: number, 'raw-echo': boolean}} options raw-echo:
 *     every message goes back as it came
 */
export function listen({ host, port, 'raw-echo': rawEcho }) {
  try {
    const server = Bun.serve({
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
          ws.subscribe(TOPIC);
        },
        message: rawEcho
          ? (ws, message) => ws.send(message)
          : (ws, message) =>
              answer(
                message,
                (data) => ws.send(data),
                (data) => server.publish(TOPIC, data)
              )
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
