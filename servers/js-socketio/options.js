'use strict';

// The command line. Usage errors end the program with code 2 and one line on
// stderr.

const { parseArgs } = require('node:util');

const flags = {
  host: { type: 'string', default: '127.0.0.1' },
  port: { type: 'string', default: '3334' },
  deflate: { type: 'boolean', default: false },
  redis: { type: 'string' },
  'redis-streams': { type: 'string' },
  recovery: { type: 'boolean', default: false },
  version: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false }
};

/**
 * @param {string[]} args
 * @returns {{host: string, port: number, deflate: boolean, redis?: string,
 *     'redis-streams'?: string, recovery: boolean}} Does not return for --help,
 *     --version and usage errors
 */
function parse(args) {
  try {
    const { values } = parseArgs({ args, options: flags });
    if (values.help) tell(HELP);
    if (values.version) tell(version());
    checkUrls(values);
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

function checkUrls(values) {
  const given = ['redis', 'redis-streams'].filter((flag) => values[flag] !== undefined);
  for (const flag of given) {
    if (!URL.canParse(values[flag])) {
      throw new Error(`--${flag} ${values[flag]}: give a URL like redis://127.0.0.1:6379`);
    }
  }
  if (given.length > 1) throw new Error('--redis and --redis-streams: give one of the two');
  if (values.recovery && values['redis-streams'] === undefined) {
    throw new Error('--recovery: give --redis-streams too, where the nodes keep what clients miss');
  }
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
                     [--redis URL | --redis-streams URL [--recovery]]
  --host HOST          address to listen on (127.0.0.1)
  --port PORT          TCP port to listen on (3334)
  --deflate            compress for clients that offer it
  --redis URL          one of several nodes; they share a Redis by publish/subscribe
  --redis-streams URL  the same by a stream of Redis
  --recovery           clients that come back get what they missed
  --version            print the versions of socket.io and ws and exit`;

module.exports = { parse };
