'use strict';

// One process: node index.js [--host HOST] [--port PORT]. With --redis URL it is
// one node of several, which reach each other's clients through Redis. With
// --drain TIME it sends its clients away at SIGTERM, and then ends.

const { parse, version } = require('./options');
const { start } = require('./server');

const options = parse(process.argv.slice(2), 'index.js', { nodes: true });

if (options.version) {
  console.log(version());
} else if (options.redis === undefined) {
  runAlone();
} else {
  runNode();
}

function runAlone() {
  const server = start(options, {
    publish(data, binary, topic, done) {
      server.deliver(data, binary, topic);
      done();
    },
    failed
  });
  endAtSigterm(() => server.drain());
}

async function runNode() {
  const { connect } = require('./relay');
  let server;
  const deliver = (data, binary, topic) => server?.deliver(data, binary, topic);
  const relay = await connect(options.redis, deliver);
  server = start(options, {
    publish(data, binary, topic, done) {
      relay.publish(data, binary, topic).then(() => {
        deliver(data, binary, topic);
        done();
      }, done);
    },
    failed
  });
  endAtSigterm(async () => {
    // Without Redis nothing is published that could wait.
    if (options.hold !== undefined) await relay.hold(options.hold).catch(() => {});
    await server.drain();
    await relay.close();
  });
}

function endAtSigterm(drain) {
  if (options.drain === undefined) return;
  process.once('SIGTERM', () => {
    // Some clients may not answer, and Redis may be away.
    setTimeout(() => process.exit(0), options.drain);
    drain().then(() => process.exit(0), (error) => failed(`js-ws: ${error.message}`));
  });
}

function failed(message) {
  console.error(message);
  process.exit(1);
}
