'use strict';

// Broadcasts and publications between nodes, through publish/subscribe of Redis:
// one channel, to which every node is subscribed. What happens without Redis is
// the client library's affair, with its own settings.

const { randomUUID } = require('node:crypto');
const { deserialize, serialize } = require('node:v8');
const { createClient } = require('redis');

const CHANNEL = 'js-ws';
const BYTES = true; // the channel's messages as a Buffer

/**
 * Connects; resolves when this node is subscribed. A Redis that is not there yet
 * is waited for, since the library tries again.
 *
 * @param {string} url Such as redis://127.0.0.1:6379
 * @param {(data: Buffer, binary: boolean, topic?: string) => void} deliver Gets the
 *     messages of the other nodes
 * @returns {Promise<{
 *     publish: (data: Buffer, binary: boolean, topic?: string) => Promise<void>,
 *     hold: (ms: number) => Promise<void>,
 *     close: () => Promise<void>}>}
 *     publish hands a message to the other nodes: resolves when Redis has taken it,
 *     rejects when the library gives it up. hold lets the publications of all nodes
 *     wait in Redis for that time: resolves when every earlier one has come here.
 *     close ends the connections when all that was under way is done
 */
async function connect(url, deliver) {
  const node = randomUUID();
  const publisher = createClient({ url });
  // A connection that is subscribed cannot publish in RESP 2, so the library's
  // documentation has one of its own for that.
  const subscriber = publisher.duplicate();
  for (const client of [publisher, subscriber]) {
    // The library connects again by itself; without a listener the process would end.
    client.on('error', (error) => console.error(`js-ws: Redis: ${error.message || error.code}`));
    await client.connect();
  }
  await subscriber.subscribe(CHANNEL, (message) => {
    const { origin, data, binary, topic } = deserialize(message);
    if (origin !== node) deliver(data, binary, topic);
  }, BYTES);

  return {
    async publish(data, binary, topic) {
      await publisher.publish(CHANNEL, serialize({ origin: node, data, binary, topic }));
    },
    async hold(ms) {
      await publisher.clientPause(ms, 'WRITE');
      // The answer comes behind the messages that Redis had already sent here.
      await subscriber.ping();
    },
    async close() {
      await publisher.close();
      await subscriber.close();
    }
  };
}

module.exports = { connect };
