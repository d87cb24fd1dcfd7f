'use strict';

// One process: node index.js [--host HOST] [--port PORT]

const { parse } = require('./options');
const { start } = require('./server');

const server = start(parse(process.argv.slice(2), 'index.js'), {
  publish(data, topic, done) {
    server.deliver(data, topic);
    done();
  },
  failed(message) {
    console.error(message);
    process.exit(1);
  }
});
