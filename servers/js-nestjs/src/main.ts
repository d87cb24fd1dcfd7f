// node dist/main.js [--host HOST] [--port PORT]

import 'reflect-metadata';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { WsAdapter } from '@nestjs/platform-ws';
import { ProtocolGateway } from './protocol.gateway.js';
import { RawEchoGateway } from './raw-echo.gateway.js';
import { read } from './request.js';

@Module({ providers: [ProtocolGateway, RawEchoGateway] })
class AppModule {}

async function main() {
  const options = parse(process.argv.slice(2));
  if (options.version) {
    const { version } = createRequire(import.meta.url)('@nestjs/core/package.json');
    console.log(`NestJS ${version} (node ${process.versions.node})`);
    return;
  }
  const app = await NestFactory.create(AppModule, { logger: false });
  app.useWebSocketAdapter(new WsAdapter(app, { messageParser: read as any }));
  await app.init();
  // What app.listen calls, which does not take a backlog.
  const server = app.getHttpServer();
  server.listen({ host: options.host, port: options.port, backlog: 4096 });
  await once(server, 'listening');
}

function parse(args: string[]) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        host: { type: 'string', default: '127.0.0.1' },
        port: { type: 'string', default: '3000' },
        version: { type: 'boolean', default: false }
      }
    });
    if (!/^\d{1,5}$/.test(values.port) || Number(values.port) > 65535) {
      throw new Error(`--port ${values.port}: give an integer from 0 to 65535`);
    }
    return { ...values, port: Number(values.port) };
  } catch (error) {
    console.error(`js-nestjs: ${(error as Error).message}`);
    process.exit(2);
  }
}

main().catch((error) => {
  console.error(`js-nestjs: ${error.message}; choose another with --host or --port`);
  process.exit(1);
});
