'use strict';

// The WebSocket server of one process: connections, limits, delivery. How a
// broadcast reaches other processes is the caller's affair.

const { readFileSync } = require('node:fs');
const { STATUS_CODES } = require('node:http');
const https = require('node:https');
const { Sender, WebSocket, WebSocketServer } = require('ws');
const { answer } = require('./protocol');
const { Topics } = require('./topics');

// Bytes; docs/protocol.md, "Limits".
const MAX_QUEUED = 64 * 1024 * 1024;

// Each fragment is kept as a Buffer until its message is whole, at some 130 bytes
// beside its payload. The library's 16,384 would refuse 4 MiB in fragments of 64
// bytes, which is what Autobahn|Testsuite sends.
const MAX_FRAGMENTS = 128 * 1024;

// The longest pongs take 127 bytes each. The library's 60 also counts pongs that
// the kernel has taken since the last read. So 61 pings in one segment would end
// the connection of a client that reads every pong.
const MAX_PONGS = Math.floor(MAX_QUEUED / 127);

/**
 * Listens on host and port.
 *
 * @param {{host: string, port: number, 'raw-echo': boolean, maxMessage: number,
 *     'frame-once': boolean, deflate: boolean, 'tls-cert': string=, 'tls-key': string=}} options
 *     raw-echo: every message goes back as it came; maxMessage in bytes; frame-once: clients share
 *     the frame of a broadcast; tls-cert, tls-key: the files to serve TLS with
 * @param {{publish: Function, failed: Function}} events publish as in
 *     protocol.js; failed gets one line when the server cannot listen
 * @returns {{deliver: (data: Buffer, binary: boolean, topic?: string) => void,
 *     drain: () => Promise<void>}} deliver queues a message on every connection of
 *     this process, or on those that are subscribed to the topic; drain accepts no
 *     more and sends every client away, and resolves when the last has gone
 */
function start(options, { publish, failed }) {
  const { host, port, 'raw-echo': rawEcho, maxMessage, 'frame-once': frameOnce, deflate } = options;
  const listening = { host, port, backlog: 4096 };
  const secure = options['tls-cert'] === undefined ? undefined : https.createServer({
    cert: readFileSync(options['tls-cert']),
    key: readFileSync(options['tls-key'])
  }, refuse);
  const server = new WebSocketServer({
    // With TLS as in the library's README: over a server of node's own.
    ...(secure === undefined ? listening : { server: secure }),
    maxPayload: maxMessage,
    maxFragments: MAX_FRAGMENTS,
    maxPendingAutoPongs: MAX_PONGS,
    // The library's own settings: context takeover, messages of 1,024 bytes and
    // more, 10 compressions at once.
    perMessageDeflate: deflate,
    skipUTF8Validation: false
  });

  const topics = new Topics();
  const hub = {
    send,
    publish,
    subscribe: (client, topic) => topics.subscribe(client, topic),
    unsubscribe: (client, topic) => topics.unsubscribe(client, topic)
  };

  server.on('error', (error) => {
    failed(`js-ws: ${error.message}; choose another with --host or --port`);
  });

  if (secure !== undefined) secure.listen(listening);

  server.on('connection', (client) => {
    // ws closes the connection with the proper code by itself; without a
    // listener, a client's violation would end the process.
    client.on('error', () => {});
    client.on('message', (data, binary) => {
      if (rawEcho) send(client, data, binary, Math.max(MAX_QUEUED, 2 * maxMessage));
      else answer(client, data, binary, hub);
    });
    client.on('close', () => topics.leave(client));
  });

  return {
    deliver(data, binary, topic) {
      const clients = topic === undefined ? server.clients : topics.subscribers(topic);
      if (frameOnce) {
        const frame = build(data, binary);
        for (const client of clients) write(client, frame);
      } else {
        for (const client of clients) send(client, data, binary);
      }
    },
    drain() {
      return new Promise((resolve) => {
        server.close(() => resolve());
        secure?.close();
        // Going away (RFC 6455, 7.4.1): a client may come back at once.
        for (const client of server.clients) client.close(1001);
      });
    }
  };
}

// What the library's own server answers to a request that is no upgrade.
function refuse(request, response) {
  response.writeHead(426, { 'Content-Type': 'text/plain' });
  response.end(STATUS_CODES[426]);
}

function send(client, data, binary, maxQueued = MAX_QUEUED) {
  if (mayTake(client, data.length, maxQueued)) client.send(data, { binary });
}

// The frame as the library's own sender builds it for each client.
function build(data, binary) {
  const options = { fin: true, opcode: binary ? 2 : 1, mask: false, rsv1: false };
  return Buffer.concat(Sender.frame(data, options));
}

// Past the library's sender, which has nothing queued without compression.
function write(client, frame) {
  if (mayTake(client, frame.length, MAX_QUEUED)) client._socket.write(frame);
}

/** Whether the client may get so many bytes; ends it when they are too many. */
function mayTake(client, size, maxQueued) {
  if (client.readyState !== WebSocket.OPEN) return false;
  const queued = client.bufferedAmount;
  if (queued === 0 || queued + size <= maxQueued) return true;
  client.terminate();
  return false;
}

module.exports = { start };
