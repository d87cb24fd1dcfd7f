'use strict';

// The WebSocket server of one process: connections, limits, delivery. How a
// broadcast reaches other processes is the caller's affair.

const http = require('node:http');
const WebSocket = require('faye-websocket');
const { answer } = require('./protocol');
const { Topics } = require('./topics');

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
 * @returns {{deliver: (data: string | Buffer, topic?: string) => void}} deliver
 *     queues a message on every connection of this process, or on those that are
 *     subscribed to the topic
 */
function start({ host, port, 'raw-echo': rawEcho }, { publish, failed }) {
  const clients = new Set();
  const topics = new Topics();
  const hub = {
    send: (client, data) => send(client, data, Buffer.byteLength(data)),
    publish,
    subscribe: (client, topic) => topics.subscribe(client, topic),
    unsubscribe: (client, topic) => topics.unsubscribe(client, topic)
  };
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
    client.ws.on('close', () => {
      clients.delete(client);
      topics.leave(client);
    });
    client.ws.on('message', ({ data }) => {
      if (rawEcho) hub.send(client, data);
      else answer(data, client, hub);
    });
  });

  server.listen({ host, port, backlog: 4096 });

  return {
    deliver(data, topic) {
      const size = Buffer.byteLength(data);
      const to = topic === undefined ? clients : topics.subscribers(topic);
      for (const client of to) send(client, data, size);
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
