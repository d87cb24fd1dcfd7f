'use strict';

// The command line. Usage errors end the program with code 2 and one line on
// stderr.

const { parseArgs } = require('node:util');

const flags = {
  host: { type: 'string', default: '127.0.0.1' },
  port: { type: 'string', default: '3000' },
  version: { type: 'boolean', default: false }
};

function parse(args) {
  try {
    const { values } = parseArgs({ args, options: flags });
    return { ...values, port: readPort(values.port) };
  } catch (error) {
    console.error(`js-fastify: ${error.message}`);
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
  const plugin = require('@fastify/websocket/package.json').version;
  const fastify = require('fastify/package.json').version;
  return `@fastify/websocket ${plugin} (fastify ${fastify}, node ${process.versions.node})`;
}

module.exports = { parse, version };
