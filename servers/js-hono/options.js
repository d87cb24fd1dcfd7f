// The command line. Usage errors end the program with code 2 and one line on
// stderr.

import { parseArgs } from 'node:util';
import { version as hono } from 'hono/package.json';

const flags = {
  host: { type: 'string', default: '127.0.0.1' },
  port: { type: 'string', default: '3334' },
  'raw-echo': { type: 'boolean', default: false },
  version: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false }
};

/**
 * @param {string[]} args
 * @returns {{host: string, port: number, 'raw-echo': boolean}} Does not return for
 *     --help, --version and usage errors
 */
export function parse(args) {
  try {
    const { values } = parseArgs({ args, options: flags });
    if (values.help) tell(HELP);
    if (values.version) tell(`hono ${hono} (bun ${Bun.version})`);
    return { ...values, port: readPort(values.port) };
  } catch (error) {
    console.error(`js-hono: ${error.message}`);
    process.exit(2);
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
  process.exit(0);
}

const HELP = `usage: bun index.js [--host HOST] [--port PORT] [--raw-echo]
  --host HOST   address to listen on (127.0.0.1)
  --port PORT   TCP port to listen on (3334)
  --raw-echo    send every message back as it came
  --version     print the versions of Hono and Bun and exit`;
