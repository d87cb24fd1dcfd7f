// One thread of several: it holds connections, and has a line to every other
// thread that does.

import { parentPort, workerData } from 'node:worker_threads';
import { create } from './server.js';

export function runWorker() {
  const peers = [];
  const pending = new Map(); // id of a broadcast -> { left: peers to hear of, done }
  let lastId = 0;

  const { app, deliver } = create(workerData, (topic, data, binary, done) => {
    deliver(topic, data, binary);
    if (peers.length === 0) return done();
    lastId += 1;
    pending.set(lastId, { left: peers.length, done });
    for (const peer of peers) peer.postMessage({ id: lastId, topic, data, binary });
  });

  // The ack rule of docs/protocol.md: every thread has queued the message before
  // its sender is answered.
  function queued(id) {
    const broadcast = pending.get(id);
    broadcast.left -= 1;
    if (broadcast.left > 0) return;
    pending.delete(id);
    broadcast.done();
  }

  parentPort.on('message', ({ peer, start }) => {
    if (start) {
      parentPort.postMessage(app.getDescriptor());
      return;
    }
    peers.push(peer);
    peer.on('message', ({ id, topic, data, binary }) => {
      if (data === undefined) return queued(id);
      deliver(topic, data, binary);
      peer.postMessage({ id });
    });
  });
}
