// The WebSocket server of one thread: connections, limits, delivery. How a
// broadcast reaches other threads is the caller's affair.

import { App, DISABLED, LIBUS_LISTEN_EXCLUSIVE_PORT, SHARED_COMPRESSOR, SSLApp } from 'uws-pack';
import { answer, EVERYONE } from './protocol.js';

const MIB = 1024 * 1024;

/** One connection, as protocol.js has it. */
class Client {
  closed = false;

  constructor(ws, compress) {
    this.ws = ws;
    this.compress = compress;
  }

  // A result may come back after its sender is gone, whose ws must then not be
  // touched.
  send(data, binary) {
    if (!this.closed) this.ws.send(data, binary, this.compress);
  }

  subscribe(topic) {
    this.ws.subscribe(topic);
  }

  unsubscribe(topic) {
    this.ws.unsubscribe(topic);
  }
}

/**
 * @param {{'raw-echo': boolean, deflate: boolean, 'tls-cert': string=, 'tls-key': string=}} options
 *     raw-echo: every message goes back as it came; deflate: for clients that offer it; tls-cert, tls-key: the files to serve TLS with
 * @param {Function} publish As in protocol.js
 * @returns {{app: object, deliver: (topic: string, data: string | Uint8Array, binary: boolean) => void}}
 *     An app that does not listen yet; deliver queues a message on every
 *     connection of it that is subscribed to the topic
 */
export function create({ 'raw-echo': rawEcho, deflate, 'tls-cert': cert, 'tls-key': key }, publish) {
  const plain = cert === undefined;
  const app = (plain ? App() : SSLApp({ cert_file_name: cert, key_file_name: key })).ws('/*', {
    compression: deflate ? SHARED_COMPRESSOR : DISABLED,
    // Bytes; docs/protocol.md, "Limits".
    maxPayloadLength: 16 * MIB,
    maxBackpressure: 64 * MIB,
    closeOnBackpressureLimit: true,
    idleTimeout: 0,
    sendPingsAutomatically: false,
    upgrade,
    open(ws) {
      ws.getUserData().client = new Client(ws, deflate);
      ws.subscribe(EVERYONE);
    },
    message: rawEcho
      ? (ws, message, binary) => ws.send(message, binary, deflate)
      : (ws, message, binary) => answer(message, binary, ws.getUserData().client, publish),
    close(ws) {
      ws.getUserData().client.closed = true;
    }
  });
  return {
    app,
    deliver(topic, data, binary) {
      app.publish(topic, data, binary, deflate);
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
    { client: undefined },
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
