'use strict';

// The WebSocket server of one process: connections, limits, delivery. How a
// broadcast reaches other processes is the caller's affair.

const { WebSocket, WebSocketServer } = require('ws');
const { answer } = require('./protocol');

// Bytes; docs/protocol.md, "Limits".
const MAX_QUEUED = 64 * 1024 * 1024;

/**
 * Listens on host and port.
 *
 * @param {{host: string, port: number, 'raw-echo': boolean, maxMessage: number}}
 *     options raw-echo: every message goes back as it came; maxMessage in bytes
 * @param {{publish: Function, failed: Function}} events publish as in
 *     protocol.js; failed gets one line when the server cannot listen
 * @returns {{deliver: (data: Buffer, binary: boolean) => void}} deliver queues a
 *     message on every connection of this process
 */
function start({ host, port, 'raw-echo': rawEcho, maxMessage }, { publish, failed }) {
  const server = new WebSocketServer({
    host,
    port,
    backlog: 4096,
    // The bound is in bytes, however finely a message is cut.
    maxPayload: maxMessage,
    maxFragments: 0,
    maxBufferedChunks: 0,
    perMessageDeflate: false,
    skipUTF8Validation: false
  });

  server.on('error', (error) => {
    failed(`js-ws: ${error.message}; choose another with --host or --port`);
  });

  server.on('connection', (client) => {
    // ws closes the connection with the proper code by itself; without a
    // listener, a client's violation would end the process.
    client.on('error', () => {});
    client.on('message', (data, binary) => {
      if (rawEcho) send(client, data, binary, Math.max(MAX_QUEUED, 2 * maxMessage));
      else answer(data, binary, (reply, asBinary) => send(client, reply, asBinary), publish);
    });
  });

  return {
    deliver(data, binary) {
      for (const client of server.clients) send(client, data, binary);
    }
  };
}

function send(client, data, binary, maxQueued = MAX_QUEUED) {
  if (client.readyState !== WebSocket.OPEN) return;
  const queued = client.bufferedAmount;
  if (queued > 0 && queued + data.length > maxQueued) client.terminate();
  else client.send(data, { binary });
}

module.exports = { start };
