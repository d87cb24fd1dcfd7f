// The text and binary dialects of docs/protocol.md. Knows no sockets. A text
// message is a string, a binary one a Uint8Array.

import { isTopic } from './topics.js';

const ECHO = 0x65; // 'e'
const BROADCAST = 0x62; // 'b'
const RESULT = 0x72; // 'r'

/**
 * Answers one message.
 *
 * @param {string | Uint8Array} data The message
 * @param {object} client The sender
 * @param {object} hub Has send(client, data); publish(data, topic), to the
 *     subscribers of the topic, or to all clients where it is undefined;
 *     subscribe(client, topic) and unsubscribe(client, topic)
 */
export function answer(data, client, hub) {
  const { reply, message, topic, join, leave } =
    typeof data === 'string' ? readText(data) : readBinary(data);
  if (message !== undefined) hub.publish(message, topic);
  if (join !== undefined) hub.subscribe(client, join);
  if (leave !== undefined) hub.unsubscribe(client, leave);
  hub.send(client, reply);
}

/**
 * @param {string} data
 * @returns {{reply: string, message?: string, topic?: string, join?: string,
 *     leave?: string}} What the sender gets; the message that goes before it to
 *     the subscribers of the topic, or to all clients; the topic that the sender
 *     joins or leaves before it
 */
function readText(data) {
  try {
    const request = JSON.parse(data);
    if (request === null || typeof request !== 'object' || Array.isArray(request)) {
      return fail('the message is not a JSON object');
    }
    const { type, topic, payload } = request;
    if (type === 'subscribe' || type === 'unsubscribe' || type === 'publish') {
      if (!isTopic(topic)) return fail('"topic" is missing or no name');
    }
    if (type === 'subscribe') {
      return { reply: encode({ type: 'subscribed', topic }), join: topic };
    }
    if (type === 'unsubscribe') {
      return { reply: encode({ type: 'unsubscribed', topic }), leave: topic };
    }
    if (payload === undefined) return fail('"payload" is missing');
    if (type === 'echo') return { reply: encode({ type, payload }) };
    if (type === 'broadcast') {
      return {
        reply: encode({ type: 'broadcastResult', payload }),
        message: encode({ type, payload })
      };
    }
    if (type === 'publish') {
      return {
        reply: encode({ type: 'publishResult', topic, payload }),
        message: encode({ type: 'message', topic, payload }),
        topic
      };
    }
    return fail('"type" is missing or unknown');
  } catch (error) {
    // A SyntaxError; or a RangeError for a payload nested deeper than the stack.
    return fail(`the message cannot be read: ${error.message}`);
  }
}

/**
 * @param {Uint8Array} data
 * @returns {{reply: string | Uint8Array, message?: Uint8Array}} As readText
 */
function readBinary(data) {
  switch (data[0]) {
    case ECHO:
      return { reply: data };
    case BROADCAST: {
      const reply = Uint8Array.from(data);
      reply[0] = RESULT;
      return { reply, message: data };
    }
    case undefined:
      return fail('the binary message is empty');
    default:
      return fail('byte 0 is neither "e" nor "b"');
  }
}

function fail(words) {
  return { reply: encode({ type: 'error', payload: words }) };
}

function encode(message) {
  return JSON.stringify(message);
}
