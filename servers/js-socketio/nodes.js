'use strict';

// What makes several nodes of this server one: the library's adapters for Redis,
// each as its documentation shows it. What happens without Redis is theirs to say.

const { createClient } = require('redis');

/**
 * @param {{redis?: string, 'redis-streams'?: string}} options URLs of Redis, of
 *     which at most one is given
 * @returns {Promise<{adapter?: Function, isAsync: boolean, end?: Function}>} adapter:
 *     for the library's server; none for one node. isAsync: it delivers a message
 *     when Redis has taken it, and not before emit returns. end: waits until Redis
 *     has what it was sent. Resolves when Redis has answered
 */
async function connect({ redis, 'redis-streams': streams }) {
  if (redis !== undefined) return { adapter: await pubSub(redis), isAsync: false };
  if (streams !== undefined) return stream(streams);
  return { isAsync: false };
}

async function pubSub(url) {
  const { createAdapter } = require('@socket.io/redis-adapter');
  const publisher = await client(url);
  const subscriber = await client(url);
  // The adapter does not look at what becomes of its publications. One that the
  // client gives up would end the process.
  process.on('unhandledRejection', report);
  return createAdapter(publisher, subscriber);
}

async function stream(url) {
  const { createAdapter } = require('@socket.io/redis-streams-adapter');
  const connection = await client(url);
  return { adapter: createAdapter(connection), isAsync: true, end: () => connection.close() };
}

async function client(url) {
  const connection = createClient({ url });
  // It connects again by itself; without a listener the process would end.
  connection.on('error', report);
  await connection.connect();
  return connection;
}

function report(error) {
  // Errors of Redis's client do not all have words.
  console.error(`js-socketio: Redis: ${error.message || error.constructor.name}`);
}

module.exports = { connect };
