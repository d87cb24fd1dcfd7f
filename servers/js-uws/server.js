// The WebSocket server of one thread: connections, limits, delivery. How a
// broadcast reaches other threads is the caller's affair.

import { App, DISABLED, LIBUS_LISTEN_EXCLUSIVE_PORT } from 'uws-pack';
import { answer } from './protocol.js';

const MIB = 1024 * 1024;
const TOPIC = 'broadcast';

/**
 * @param {{'raw-echo': boolean}} options raw-echo: every message goes back as it came
 * @param {Function} publish As in protocol.js
 * @returns {{app: object, deliver: (data: string | Uint8Array, binary: boolean) => void}}
 *     An app that does not listen yet; deliver queues a message on every
 *     connection of it
 */
export function create({ 'raw-echo': rawEcho }, publish) {
  const app = App().ws('/*', {
    compression: DISABLED,
    // Bytes; docs/protocol.md, "Limits".
    maxPayloadLength: 16 * MIB,
    maxBackpressure: 64 * MIB,
    closeOnBackpressureLimit: true,
    idleTimeout: 0,
    sendPingsAutomatically: false,
    upgrade,
    open(ws) {
      ws.subscribe(TOPIC);
    },
    message: rawEcho
      ? (ws, message, binary) => ws.send(message, binary)
      : (ws, message, binary) => {
          const client = ws.getUserData();
          // A result may come back after its sender is gone, whose ws must then
          // not be touched.
          const send = (data, asBinary) => client.closed || ws.send(data, asBinary);
          answer(message, binary, send, publish);
        },
    close(ws) {
      ws.getUserData().closed = true;
    }
  });
  return {
    app,
    deliver(data, binary) {
      app.publish(TOPIC, data, binary);
    }
  };
}

// The library upgrades any request with a key; it leaves the version (RFC 6455,
// section 4.2.2) to us.
function upgrade(response, request, context) {
  if (request.getHeader('sec-websocket-version') !== '13') {
    response
      .writeStatus('426 Upgrade Required')
      .writeHeader('Sec-WebSocket-Version', '13')
      .end();
    return;
  }
  response.upgrade(
    { closed: false },
    request.getHeader('sec-websocket-key'),
    request.getHeader('sec-websocket-protocol'),
    request.getHeader('sec-websocket-extensions'),
    context
  );
}

/**
 * Ends the program with 1 when the port cannot be had. The library would
 * otherwise share it with any other server that does the same.
 *
 * @param {object} app
 * @param {{host: string, port: number}} options
 */
export function listen(app, { host, port }) {
  app.listen(host, port, LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
    if (socket) return;
    console.error(
      `js-uws: cannot listen on ${host} port ${port}; choose another with --host or --port`
    );
    process.exit(1);
  });
}
