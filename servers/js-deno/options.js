// The command line. Usage errors end the program with code 2 and one line on
// stderr.

import { parseArgs } from 'node:util';

const flags = {
  host: { type: 'string', default: '127.0.0.1' },
  port: { type: 'string', default: '3334' },
  'raw-echo': { type: 'boolean', default: false },
  'tls-cert': { type: 'string' },
  'tls-key': { type: 'string' },
  version: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false }
};

/**
 * @param {string[]} args
 * @returns {{host: string, port: number, 'raw-echo': boolean, 'tls-cert': string=,
 *     'tls-key': string=}} Does not return for --help, --version and usage errors
 */
export function parse(args) {
  try {
    const { values } = parseArgs({ args, options: flags });
    if (values.help) tell(HELP);
    if (values.version) tell(`deno ${Deno.version.deno}`);
    if ((values['tls-cert'] === undefined) !== (values['tls-key'] === undefined)) {
      throw new Error('--tls-cert and --tls-key belong together: give both');
    }
    return { ...values, port: readPort(values.port) };
  } catch (error) {
    console.error(`js-deno: ${error.message}`);
    Deno.exit(2);
  }
}

function readPort(text) {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65535) {
    throw new Error(`--port ${text}: give an integer from 0 to 65535`);
  }
  return Number(text);
}

function tell(text) {
  console.log(text);
  Deno.exit(0);
}

const HELP = `usage: deno run --allow-net index.js [--host HOST] [--port PORT] [--raw-echo]
  --host HOST   address to listen on (127.0.0.1)
  --port PORT   TCP port to listen on (3334)
  --raw-echo    send every message back as it came
  --tls-cert FILE, --tls-key FILE   serve TLS with this certificate and its key, in
                PEM (and deno run --allow-read)
  --version     print the version of Deno and exit`;
