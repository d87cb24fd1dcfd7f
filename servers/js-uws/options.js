// The command line that both programs share. Usage errors end the program with
// code 2 and one line on stderr.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { parseArgs } from 'node:util';

const flags = {
  host: { type: 'string', default: '127.0.0.1' },
  port: { type: 'string', default: '3334' },
  'raw-echo': { type: 'boolean', default: false },
  deflate: { type: 'boolean', default: false },
  'tls-cert': { type: 'string' },
  'tls-key': { type: 'string' },
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
 * @returns {{host: string, port: number, workers?: number, 'raw-echo': boolean, deflate: boolean}}
 *     Does not return for --help, --version and usage errors
 */
export function parse(args, program, { cluster = false } = {}) {
  try {
    const { values, positionals } = parseArgs({
      args,
      options: cluster ? clusterFlags : flags,
      allowPositionals: cluster
    });
    const [name = 'uws', ...rest] = positionals;
    if (name !== 'uws' || rest.length > 0) {
      throw new Error(`unexpected argument '${positionals.join(' ')}'; the only one is 'uws'`);
    }
    if (values.help) tell(help(program, cluster));
    if (values.version) tell(version());
    values.port = integer('port', values.port, 0, 65535);
    if ((values['tls-cert'] === undefined) !== (values['tls-key'] === undefined)) {
      throw new Error('--tls-cert and --tls-key belong together: give both');
    }
    if (cluster) {
      if (values['tls-cert'] !== undefined) throw new Error('--tls-cert: only on one thread');
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

// Of its release the library's file tells only what it says to HTTP clients,
// 'uWebSockets/20 Server'. The package does not export its package.json.
function version() {
  const { platform, arch, versions } = process;
  const file = `uws_${platform}_${arch}_${versions.modules}.node`;
  const library = read(`dist/bin/${file}`);
  const [, release] = /uWebSockets\/([\d.]+) Server/.exec(library.toString('latin1'));
  const sum = createHash('sha256').update(library).digest('hex');
  return (
    `uWebSockets.js ${release} (uws-pack ${JSON.parse(read('package.json')).version}, ` +
    `node ${versions.node}), ${file} with SHA-256 ${sum}`
  );
}

function read(path) {
  return readFileSync(new URL(`./node_modules/uws-pack/${path}`, import.meta.url));
}

function help(program, cluster) {
  return [
    `usage: node ${program}${cluster ? ' [uws] [--threads N]' : ''} [--host HOST] [--port PORT] [--raw-echo] [--deflate]`,
    '  --host HOST   address to listen on (127.0.0.1)',
    '  --port PORT   TCP port to listen on (3334)',
    ...(cluster ? ['  --threads N   threads that hold connections (one per core); also --workers'] : []),
    ...(cluster ? [] : ['  --tls-cert FILE, --tls-key FILE   serve TLS with this certificate and its key, in PEM']),
    '  --raw-echo    send every message back as it came',
    '  --deflate     compress for clients that offer it',
    '  --version     print what the library and its package tell of their version and exit'
  ].join('\n');
}
