'use strict';

// The WebSocket server of one process: connections, limits, delivery. How a
// broadcast reaches other processes is the caller's affair.

const http = require('node:http');
const WebSocket = require('faye-websocket');
const { answer } = require('./protocol');

// Bytes; docs/protocol.md, "Limits".
const MAX_MESSAGE = 16 * 1024 * 1024;
const MAX_QUEUED = 64 * 1024 * 1024;

const REFUSAL =
  'HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\n' +
  'Connection: close\r\nContent-Length: 0\r\n\r\n';

/**
 * Listens on host and port.
 *
 * @param {{host: string, port: number, 'raw-echo': boolean}} options raw-echo:
 *     every message goes back as it came
 * @param {{publish: Function, failed: Function}} events publish as in
 *     protocol.js; failed gets one line when the server cannot listen
 * @returns {{deliver: (data: string | Buffer) => void}} deliver queues a
 *     message on every connection of this process
 */
function start({ host, port, 'raw-echo': rawEcho }, { publish, failed }) {
  const clients = new Set();
  const server = http.createServer((request, response) => {
    response.writeHead(426, { Upgrade: 'websocket', Connection: 'close' }).end();
  });

  server.on('error', (error) => {
    failed(`js-faye: ${error.message}; choose another with --host or --port`);
  });

  server.on('upgrade', (request, socket, head) => {
    if (!WebSocket.isWebSocket(request)) {
      // Node leaves the errors of an upgraded socket to its new owner.
      socket.on('error', () => {});
      socket.end(REFUSAL);
      return;
    }
    const client = {
      socket,
      ws: new WebSocket(request, socket, head, [], { maxLength: MAX_MESSAGE })
    };
    client.ws.on('open', () => clients.add(client));
    client.ws.on('close', () => clients.delete(client));
    client.ws.on('message', ({ data }) => {
      if (rawEcho) send(client, data, Buffer.byteLength(data));
      else answer(data, (reply) => send(client, reply, Buffer.byteLength(reply)), publish);
    });
  });

  server.listen({ host, port, backlog: 4096 });

  return {
    deliver(data) {
      const size = Buffer.byteLength(data);
      for (const client of clients) send(client, data, size);
    }
  };
}

// The library has a bufferedAmount that is always 0; the socket, which Node
// handed to this server, knows.
function send({ ws, socket }, data, size) {
  const queued = socket.writableLength;
  if (queued > 0 && queued + size > MAX_QUEUED) socket.destroy();
  else ws.send(data);
}

module.exports = { start };
