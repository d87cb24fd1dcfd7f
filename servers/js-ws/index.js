'use strict';

// One process: node index.js [--host HOST] [--port PORT]

const { parse, version } = require('./options');
const { start } = require('./server');

const options = parse(process.argv.slice(2), 'index.js');

if (options.version) {
  console.log(version());
} else {
  const server = start(options, {
    publish(data, binary, topic, done) {
      server.deliver(data, binary, topic);
      done();
    },
    failed(message) {
      console.error(message);
      process.exit(1);
    }
  });
}
