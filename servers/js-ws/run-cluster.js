'use strict';

// Several processes: node run-cluster.js [ws] [--host HOST] [--port PORT]
// [--threads N]. The primary accepts connections for the workers (round robin,
// as node:cluster does) and relays broadcasts between them; it holds no
// WebSocket of its own.

const cluster = require('node:cluster');
const { parse, version } = require('./options');

const options = parse(process.argv.slice(2), 'run-cluster.js', { cluster: true });

if (options.version) {
  console.log(version());
} else if (cluster.isPrimary) {
  runPrimary();
} else {
  runWorker();
}

function runPrimary() {
  // 'advanced' carries a Buffer as bytes; the default is JSON.
  cluster.setupPrimary({ serialization: 'advanced' });

  const workers = new Set();
  let online = 0;

  cluster.on('online', () => {
    online += 1;
    // Together, so that the first connections are shared out evenly.
    if (online === options.workers) for (const worker of workers) worker.send({ listen: true });
  });

  cluster.on('message', (origin, { failure, id, data, binary, topic }) => {
    if (failure) stop(failure);
    for (const worker of workers) if (worker !== origin) worker.send({ data, binary, topic });
    // The ack rule of docs/protocol.md: every process has been handed the
    // message before the origin may answer.
    origin.send({ id });
  });

  // With a worker missing, the figures would be those of another server.
  cluster.on('exit', (worker, code, signal) => {
    stop(`js-ws: worker ${worker.process.pid} ended (${signal || code}); stopping the others`);
  });

  function stop(reason) {
    console.error(reason);
    for (const worker of workers) worker.process.kill('SIGKILL');
    process.exit(1);
  }

  for (let i = 0; i < options.workers; i += 1) workers.add(cluster.fork());
}

function runWorker() {
  const { start } = require('./server');
  const pending = new Map(); // id of a relayed broadcast -> sends its result
  let server;
  let lastId = 0;

  // The primary is gone: a message to it can fail before the disconnection,
  // which ends a worker by itself, is noticed.
  cluster.worker.on('error', () => process.exit(1));

  process.on('message', ({ listen, id, data, binary, topic }) => {
    if (listen) {
      server = start(options, { publish, failed });
    } else if (id !== undefined) {
      const done = pending.get(id);
      pending.delete(id);
      done();
    } else if (server) {
      server.deliver(data, binary, topic);
    }
  });

  function publish(data, binary, topic, done) {
    lastId += 1;
    pending.set(lastId, done);
    process.send({ id: lastId, data, binary, topic });
    server.deliver(data, binary, topic);
  }

  function failed(failure) {
    process.send({ failure }, () => process.exit(1));
  }
}
