'use strict';

// The routes, connections, limits and delivery.

const websocket = require('@fastify/websocket');
const fastify = require('fastify');
const { WebSocket } = require('ws');
const { answer } = require('./protocol');
const { Topics } = require('./topics');

const MIB = 1024 * 1024;

// docs/protocol.md, "Limits".
const MAX_MESSAGE = 16 * MIB;
const MAX_QUEUED = 64 * MIB;

// Each fragment is kept as a Buffer until its message is whole. The 16,384 of ws
// would refuse 4 MiB in fragments of 64 bytes, which Autobahn|Testsuite sends.
const MAX_FRAGMENTS = 128 * 1024;

// The longest pongs take 127 bytes each. The 60 of ws also counts pongs that the
// kernel has taken since the last read. So 61 pings in one segment would end the
// connection of a client that reads every pong.
const MAX_PONGS = Math.floor(MAX_QUEUED / 127);

/**
 * Listens on host and port. /ws speaks the protocol, /raw sends every message back
 * as it came.
 *
 * @param {{host: string, port: number}} options
 * @returns {Promise<string>} Fails when it cannot listen
 */
async function start({ host, port }) {
  const app = fastify();
  await app.register(websocket, {
    options: {
      maxPayload: MAX_MESSAGE,
      maxFragments: MAX_FRAGMENTS,
      maxPendingAutoPongs: MAX_PONGS
    },
    // ws has begun to close the connection with the proper code by then.
    errorHandler() {}
  });

  const topics = new Topics();
  const hub = {
    send,
    subscribe: (client, topic) => topics.subscribe(client, topic),
    unsubscribe: (client, topic) => topics.unsubscribe(client, topic),
    publish(data, binary, topic, done) {
      const clients = topic === undefined ? app.websocketServer.clients : topics.subscribers(topic);
      for (const client of clients) send(client, data, binary);
      done();
    }
  };

  app.get('/ws', { websocket: true }, (client) => {
    client.on('message', (data, binary) => answer(client, data, binary, hub));
    client.on('close', () => topics.leave(client));
  });

  app.get('/raw', { websocket: true }, (client) => {
    client.on('message', (data, binary) => send(client, data, binary));
  });

  return app.listen({ host, port, backlog: 4096 });
}

/** Ends a client for which too much waits. */
function send(client, data, binary) {
  if (client.readyState !== WebSocket.OPEN) return;
  const queued = client.bufferedAmount;
  if (queued > 0 && queued + data.length > MAX_QUEUED) client.terminate();
  else client.send(data, { binary });
}

module.exports = { start };
