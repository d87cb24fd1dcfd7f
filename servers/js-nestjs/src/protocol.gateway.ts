// The text and binary dialects of docs/protocol.md: a handler per type of request.

import {
  ConnectedSocket,
  MessageBody,
  SubscribeMessage,
  WebSocketGateway,
  WebSocketServer
} from '@nestjs/websockets';
import type { Server, WebSocket } from 'ws';
import { limits, send } from './limits.js';
import type { Request } from './request.js';
import { Topics } from './topics.js';

const ECHO = 0x65; // 'e'
const BROADCAST = 0x62; // 'b'
const RESULT = 0x72; // 'r'

@WebSocketGateway({ path: '/ws', ...limits })
export class ProtocolGateway {
  @WebSocketServer()
  private readonly server!: Server;

  private readonly topics = new Topics<WebSocket>();

  handleDisconnect(client: WebSocket) {
    this.topics.leave(client);
  }

  @SubscribeMessage('echo')
  echo(@ConnectedSocket() client: WebSocket, @MessageBody() { payload }: Request) {
    this.tell(client, () => ({ type: 'echo', payload }));
  }

  @SubscribeMessage('broadcast')
  broadcast(@ConnectedSocket() client: WebSocket, @MessageBody() { payload }: Request) {
    this.tell(client, () => {
      deliver(this.server.clients, encode({ type: 'broadcast', payload }), false);
      return { type: 'broadcastResult', payload };
    });
  }

  @SubscribeMessage('subscribe')
  subscribe(@ConnectedSocket() client: WebSocket, @MessageBody() { topic }: Request) {
    this.topics.subscribe(client, topic);
    this.tell(client, () => ({ type: 'subscribed', topic }));
  }

  @SubscribeMessage('unsubscribe')
  unsubscribe(@ConnectedSocket() client: WebSocket, @MessageBody() { topic }: Request) {
    this.topics.unsubscribe(client, topic);
    this.tell(client, () => ({ type: 'unsubscribed', topic }));
  }

  @SubscribeMessage('publish')
  publish(@ConnectedSocket() client: WebSocket, @MessageBody() { topic, payload }: Request) {
    this.tell(client, () => {
      deliver(this.topics.subscribers(topic), encode({ type: 'message', topic, payload }), false);
      return { type: 'publishResult', topic, payload };
    });
  }

  @SubscribeMessage('binary')
  binary(@ConnectedSocket() client: WebSocket, @MessageBody() data: Buffer) {
    if (data[0] === ECHO) {
      send(client, data, true);
    } else if (data[0] === BROADCAST) {
      deliver(this.server.clients, data, true);
      const result = Buffer.from(data);
      result[0] = RESULT;
      send(client, result, true);
    } else {
      this.refuse(client, 'byte 0 is neither "e" nor "b"');
    }
  }

  @SubscribeMessage('refused')
  refuse(@ConnectedSocket() client: WebSocket, @MessageBody() payload: string) {
    this.tell(client, () => ({ type: 'error', payload }));
  }

  /** The adapter would send what a handler returns without a look at what waits. */
  private tell(client: WebSocket, answer: () => object) {
    try {
      send(client, encode(answer()), false);
    } catch (error) {
      // A RangeError for a payload nested deeper than the stack.
      send(client, encode({ type: 'error', payload: (error as Error).message }), false);
    }
  }
}

function deliver(clients: Iterable<WebSocket>, data: Buffer, binary: boolean) {
  for (const client of clients) send(client, data, binary);
}

// Bytes and not a string, which would be turned into UTF-8 once for every client.
function encode(message: object) {
  return Buffer.from(JSON.stringify(message));
}
