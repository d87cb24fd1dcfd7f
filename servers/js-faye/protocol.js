'use strict';

// The text and binary dialects of docs/protocol.md. Knows no sockets: a client
// is something that a hub can send to. As in the library, a text message is a
// string and a binary one a Buffer.

const { isTopic } = require('./topics');

const ECHO = 0x65; // 'e'
const BROADCAST = 0x62; // 'b'
const RESULT = 0x72; // 'r'

/**
 * Answers one message.
 *
 * @param {string | Buffer} data The message
 * @param {object} client The sender
 * @param {object} hub Has send(client, data); subscribe(client, topic) and
 *     unsubscribe(client, topic); publish(data, topic, done), which calls done once
 *     the result may be sent: to the subscribers of the topic, or to all clients
 *     where it is undefined
 */
function answer(data, client, hub) {
  const { reply, message, topic, join, leave } =
    typeof data === 'string' ? readText(data) : readBinary(data);
  if (message !== undefined) {
    hub.publish(message, topic, () => hub.send(client, reply));
    return;
  }
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
 * @param {Buffer} data
 * @returns {{reply: string | Buffer, message?: Buffer}} As readText
 */
function readBinary(data) {
  switch (data[0]) {
    case ECHO:
      return { reply: data };
    case BROADCAST: {
      const reply = Buffer.from(data);
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

module.exports = { answer };
