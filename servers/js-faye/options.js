'use strict';

// The command line that both programs share. Usage errors end the program with
// code 2 and one line on stderr.

const os = require('node:os');
const { parseArgs } = require('node:util');

const flags = {
  host: { type: 'string', default: '127.0.0.1' },
  port: { type: 'string', default: '3334' },
  'raw-echo': { type: 'boolean', default: false },
  version: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false }
};

const clusterFlags = {
  ...flags,
  threads: { type: 'string', default: String(os.availableParallelism()) },
  workers: { type: 'string' } // the older name of --threads
};

/**
 * @param {string[]} args
 * @param {string} program Its file name
 * @returns {{host: string, port: number, workers?: number, 'raw-echo': boolean}}
 *     Does not return for --help, --version and usage errors
 */
function parse(args, program, { cluster = false } = {}) {
  try {
    const { values, positionals } = parseArgs({
      args,
      options: cluster ? clusterFlags : flags,
      allowPositionals: cluster
    });
    const [name = 'faye', ...rest] = positionals;
    if (name !== 'faye' || rest.length > 0) {
      throw new Error(`unexpected argument '${positionals.join(' ')}'; the only one is 'faye'`);
    }
    if (values.help) tell(help(program, cluster));
    if (values.version) tell(version());
    values.port = integer('port', values.port, 0, 65535);
    if (cluster) {
      const flag = values.workers === undefined ? 'threads' : 'workers';
      values.workers = integer(flag, values[flag], 1, 1024);
    }
    return values;
  } catch (error) {
    console.error(`${program}: ${error.message}`);
    process.exit(2);
  }
}

function integer(flag, text, least, most) {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw new Error(`--${flag} ${text}: give an integer from ${least} to ${most}`);
  }
  return value;
}

function tell(text) {
  console.log(text);
  process.exit(0);
}

function version() {
  return `faye-websocket ${require('faye-websocket/package.json').version} (node ${process.versions.node})`;
}

function help(program, cluster) {
  return [
    `usage: node ${program}${cluster ? ' [faye] [--threads N]' : ''} [--host HOST] [--port PORT] [--raw-echo]`,
    '  --host HOST   address to listen on (127.0.0.1)',
    '  --port PORT   TCP port to listen on (3334)',
    ...(cluster ? ['  --threads N   processes (one per core); also --workers'] : []),
    '  --raw-echo    send every message back as it came',
    '  --version     print the version of faye-websocket and exit'
  ].join('\n');
}

module.exports = { parse };
