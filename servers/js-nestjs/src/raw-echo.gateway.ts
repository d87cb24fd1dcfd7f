import { WebSocketGateway } from '@nestjs/websockets';
import type { WebSocket } from 'ws';
import { limits, send } from './limits.js';

/** Sends every message back as it came, for Autobahn|Testsuite. */
@WebSocketGateway({ path: '/raw', ...limits })
export class RawEchoGateway {
  handleConnection(client: WebSocket) {
    client.on('message', (data: Buffer, binary) => send(client, data, binary));
  }
}
