// The WebSocket server: connections, limits, delivery.

import { answer, EVERYONE } from './protocol.js';

const MIB = 1024 * 1024;

/**
 * Ends the program with 1 when the port cannot be had.
 *
 * @param {{host: string, port: number, 'raw-echo': boolean, deflate: boolean,
 *     'tls-cert': string=, 'tls-key': string=}} options raw-echo: every message goes
 *     back as it came; deflate: compressed for clients that offered it; tls-cert,
 *     tls-key: the files to serve TLS with
 */
export function listen({ host, port, 'raw-echo': rawEcho, deflate, 'tls-cert': cert, 'tls-key': key }) {
  const publish = (topic, data) => server.publish(topic, data, deflate);
  let server;
  try {
    server = Bun.serve({
      hostname: host,
      port,
      tls: cert && { cert: Bun.file(cert), key: Bun.file(key) },
      fetch: upgrade,
      websocket: {
        // Bytes; docs/protocol.md, "Limits".
        maxPayloadLength: 16 * MIB,
        backpressureLimit: 64 * MIB,
        closeOnBackpressureLimit: true,
        idleTimeout: 0,
        sendPings: false,
        perMessageDeflate: deflate,
        open(ws) {
          ws.subscribe(EVERYONE);
        },
        message: rawEcho
          ? (ws, message) => ws.send(message, deflate)
          : (ws, message) => answer(message, ws, publish, deflate)
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
