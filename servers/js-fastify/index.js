'use strict';

// node index.js [--host HOST] [--port PORT]

const { parse, version } = require('./options');
const { start } = require('./server');

const options = parse(process.argv.slice(2));

if (options.version) {
  console.log(version());
} else {
  start(options).catch((error) => {
    console.error(`js-fastify: ${error.message}; choose another with --host or --port`);
    process.exit(1);
  });
}
