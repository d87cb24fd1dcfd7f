'use strict';

// node index.js [--host HOST] [--port PORT]. With --redis URL or --redis-streams URL
// it is one node of several.

const { connect } = require('./nodes');
const { parse } = require('./options');
const { listen } = require('./server');

const options = parse(process.argv.slice(2));
connect(options).then((nodes) => listen({ ...options, ...nodes }));
