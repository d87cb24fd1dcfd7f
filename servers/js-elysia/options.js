// The command line. Usage errors end the program with code 2 and one line on
// stderr.

import { parseArgs } from 'node:util';
import { version as elysia } from 'elysia/package.json';

const flags = {
  host: { type: 'string', default: '127.0.0.1' },
  port: { type: 'string', default: '3000' },
  version: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false }
};

/**
 * @param {string[]} args
 * @returns {{host: string, port: number}} Does not return for --help, --version and
 *     usage errors
 */
export function parse(args) {
  try {
    const { values } = parseArgs({ args, options: flags });
    if (values.help) tell(HELP);
    if (values.version) tell(`elysia ${elysia} (bun ${Bun.version})`);
    return { ...values, port: readPort(values.port) };
  } catch (error) {
    console.error(`js-elysia: ${error.message}`);
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

const HELP = `usage: bun index.js [--host HOST] [--port PORT]
  --host HOST   address to listen on (127.0.0.1)
  --port PORT   TCP port to listen on (3000)
  --version     print the versions of Elysia and Bun and exit`;
