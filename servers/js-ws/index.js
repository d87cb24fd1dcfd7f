'use strict';

// One process: node index.js [--host HOST] [--port PORT]. With --redis URL it is
// one node of several, which reach each other's clients through Redis.

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
}

async function runNode() {
  const { connect } = require('./relay');
  let server;
  const deliver = (data, binary, topic) => server?.deliver(data, binary, topic);
  const relay = await connect(options.redis, deliver);
  server = start(options, {
    publish(data, binary, topic, done) {
      relay(data, binary, topic).then(() => {
        deliver(data, binary, topic);
        done();
      }, done);
    },
    failed
  });
}

function failed(message) {
  console.error(message);
  process.exit(1);
}
