'use strict';

// node index.js [--host HOST] [--port PORT]

const { parse } = require('./options');
const { listen } = require('./server');

listen(parse(process.argv.slice(2)));
