'use strict';

// The command line that both programs share. Usage errors end the program with
// code 2 and one line on stderr.

const os = require('node:os');
const { parseArgs } = require('node:util');

const flags = {
  host: { type: 'string', default: '127.0.0.1' },
  port: { type: 'string', default: '3334' },
  'raw-echo': { type: 'boolean', default: false },
  'max-message': { type: 'string', default: '16M' },
  'frame-once': { type: 'boolean', default: false },
  deflate: { type: 'boolean', default: false },
  'tls-cert': { type: 'string' },
  'tls-key': { type: 'string' },
  version: { type: 'boolean', default: false }
};

const nodeFlags = {
  ...flags,
  redis: { type: 'string' },
  drain: { type: 'string' },
  hold: { type: 'string' }
};

const clusterFlags = {
  ...flags,
  threads: { type: 'string', default: String(os.availableParallelism()) },
  workers: { type: 'string' } // the older name of --threads
};

function parse(args, program, { cluster = false, nodes = false } = {}) {
  try {
    const { values, positionals } = parseArgs({
      args,
      options: cluster ? clusterFlags : nodes ? nodeFlags : flags,
      allowPositionals: cluster
    });
    const [name = 'ws', ...rest] = positionals;
    if (name !== 'ws' || rest.length > 0) {
      throw new Error(`unexpected argument '${positionals.join(' ')}'; the only one is 'ws'`);
    }
    values.port = integer('port', values.port, 0, 65535);
    values.maxMessage = mebibytes('max-message', values['max-message']);
    // The limit of the protocol is the same for every server, docs/protocol.md.
    if (values['max-message'] !== '16M' && !values['raw-echo']) {
      throw new Error('--max-message: only with --raw-echo');
    }
    if (values.deflate && values['frame-once']) {
      throw new Error('--deflate: not with --frame-once, whose frames are not compressed');
    }
    if ((values['tls-cert'] === undefined) !== (values['tls-key'] === undefined)) {
      throw new Error('--tls-cert and --tls-key belong together: give both');
    }
    if (values.redis !== undefined && !URL.canParse(values.redis)) {
      throw new Error(`--redis ${values.redis}: give a URL like redis://127.0.0.1:6379`);
    }
    if (values.hold !== undefined && (values.redis === undefined || values.drain === undefined)) {
      throw new Error('--hold: only with --redis and --drain');
    }
    for (const flag of ['drain', 'hold']) {
      if (values[flag] !== undefined) values[flag] = milliseconds(flag, values[flag]);
    }
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

/** The bytes of a size like 128M. */
function mebibytes(flag, text) {
  if (!text.endsWith('M')) throw new Error(`--${flag} ${text}: give a size like 128M`);
  return integer(flag, text.slice(0, -1), 1, 1024) * 1024 * 1024;
}

/** The milliseconds of a time like 10s or 1500ms. */
function milliseconds(flag, text) {
  const [, number, unit] = /^(\d+)(ms|s)$/.exec(text) ?? [];
  if (unit === undefined) throw new Error(`--${flag} ${text}: give a time like 10s or 1500ms`);
  if (unit === 'ms') return integer(flag, number, 1, 3_600_000);
  return integer(flag, number, 1, 3600) * 1000;
}

function integer(flag, text, least, most) {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw new Error(`--${flag} ${text}: give an integer from ${least} to ${most}`);
  }
  return value;
}

function version() {
  return `ws ${require('ws/package.json').version} (node ${process.versions.node})`;
}

module.exports = { parse, version };
