'use strict';

// The command line. Usage errors end the program with code 2 and one line on
// stderr.

const { parseArgs } = require('node:util');

const flags = {
  host: { type: 'string', default: '127.0.0.1' },
  port: { type: 'string', default: '3334' },
  deflate: { type: 'boolean', default: false },
  version: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false }
};

/**
 * @param {string[]} args
 * @returns {{host: string, port: number, deflate: boolean}} Does not return for
 *     --help, --version and usage errors
 */
function parse(args) {
  try {
    const { values } = parseArgs({ args, options: flags });
    if (values.help) tell(HELP);
    if (values.version) tell(version());
    return { ...values, port: readPort(values.port) };
  } catch (error) {
    console.error(`js-socketio: ${error.message}`);
    process.exit(2);
  }
}

function readPort(text) {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65535) {
    throw new Error(`--port ${text}: give an integer from 0 to 65535`);
  }
  return Number(text);
}

function version() {
  const { version: ws } = require('ws/package.json');
  const { version: library } = require('socket.io/package.json');
  return `socket.io ${library} (ws ${ws}, node ${process.versions.node})`;
}

function tell(text) {
  console.log(text);
  process.exit(0);
}

const HELP = `usage: node index.js [--host HOST] [--port PORT] [--deflate]
  --host HOST   address to listen on (127.0.0.1)
  --port PORT   TCP port to listen on (3334)
  --deflate     compress for clients that offer it
  --version     print the versions of socket.io and ws and exit`;

module.exports = { parse };
