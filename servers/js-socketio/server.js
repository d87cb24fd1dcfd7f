'use strict';

// The Socket.IO server: connections, limits, delivery.

const http = require('node:http');
const { Server } = require('socket.io');
const { serve } = require('./protocol');

// Bytes; docs/protocol.md, "Limits".
const MAX_MESSAGE = 16 * 1024 * 1024;
const MAX_QUEUED = 64 * 1024 * 1024;

/**
 * Listens on host and port; ends the program with 1 when the port cannot be had.
 *
 * @param {{host: string, port: number, deflate: boolean, recovery: boolean,
 *     adapter?: Function, isAsync: boolean, end?: Function}} options deflate:
 *     compressed for clients that offered it; recovery: clients that come back get
 *     what they missed; adapter, isAsync, end: as in nodes.js
 */
function listen({ host, port, deflate, recovery, adapter, isAsync, end }) {
  const server = http.createServer();
  const io = new Server(server, {
    transports: ['websocket'],
    serveClient: false,
    maxHttpBufferSize: MAX_MESSAGE,
    perMessageDeflate: deflate,
    ...(adapter && { adapter }),
    ...(recovery && { connectionStateRecovery: {} })
  });

  io.engine.on('connection', (connection) => {
    bound(connection);
    // The handshake's HTTP request, which the connection would keep in memory.
    connection.request = null;
  });
  io.on('connection', (socket) => {
    const publish = (room, event, ...args) => {
      (room === undefined ? io : io.to(room)).emit(event, ...args);
    };
    // A client is in a room of the name of its id. The way of a broadcast keeps
    // the order where emit returns before it is delivered.
    const respond = isAsync ? publish.bind(undefined, socket.id) : socket.emit.bind(socket);
    // With recovery, emit of a socket would go through Redis as a broadcast does.
    const client = recovery ? io.local.to(socket.id) : socket;
    serve(socket, publish, respond, client.emit.bind(client));
  });

  server.on('error', (error) => {
    console.error(`js-socketio: ${error.message}; choose another with --host or --port`);
    process.exit(1);
  });
  server.listen({ host, port, backlog: 4096 });
  if (recovery) process.once('SIGTERM', () => leave(io, end));
}

// Ends each connection, at which the library has Redis keep its session, and then the
// process.
async function leave(io, end) {
  await io.close();
  await end();
  process.exit(0);
}

// Cuts a client off for which too much waits. The library queues packets in
// Engine.IO's connection until the WebSocket has written those before them, and
// has no bound on either.
function bound(connection) {
  let queued = 0;
  connection.on('packetCreate', ({ data }) => {
    queued += data?.length ?? 0;
    const { socket } = connection.transport;
    const waits = queued + (socket?.bufferedAmount ?? 0);
    if (waits > MAX_QUEUED && waits > data?.length) socket?.terminate();
  });
  // What was queued has been handed to the WebSocket.
  connection.on('drain', () => {
    queued = 0;
  });
}

module.exports = { listen };
