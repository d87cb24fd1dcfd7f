'use strict';

// The text and binary dialects of docs/protocol.md. Knows no sockets: a client
// is something that a hub can send to.

const { isTopic } = require('./topics');

const ECHO = 0x65; // 'e'
const BROADCAST = 0x62; // 'b'
const RESULT = 0x72; // 'r'

/**
 * Answers one message.
 *
 * @param {object} client The sender
 * @param {Buffer} data The message
 * @param {boolean} binary Its dialect
 * @param {object} hub Has send(client, data, binary); subscribe(client, topic)
 *     and unsubscribe(client, topic); publish(data, binary, topic, done), which
 *     calls done once the result may be sent, or with the error in its place: to
 *     the subscribers of the topic, or to all clients where it is undefined
 */
function answer(client, data, binary, hub) {
  if (binary) answerBinary(client, data, hub);
  else answerText(client, data, hub);
}

function answerText(client, data, hub) {
  const { reply, message, topic, join, leave } = readText(data);
  if (message) {
    publish(hub, client, message, false, topic, reply);
    return;
  }
  if (join) hub.subscribe(client, join);
  if (leave) hub.unsubscribe(client, leave);
  hub.send(client, reply, false);
}

/**
 * @param {Buffer} data
 * @returns {{reply: Buffer, message?: Buffer, topic?: string, join?: string,
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

function publish(hub, client, message, binary, topic, result) {
  hub.publish(message, binary, topic, (error) => {
    // Errors of Redis's client do not all have words.
    const words = () => `not published: ${error.message || error.constructor.name}`;
    if (error) hub.send(client, fail(words()).reply, false);
    else hub.send(client, result, binary);
  });
}

function fail(words) {
  return { reply: encode({ type: 'error', payload: words }) };
}

function answerBinary(client, data, hub) {
  switch (data[0]) {
    case ECHO:
      return hub.send(client, data, true);
    case BROADCAST: {
      const result = Buffer.from(data);
      result[0] = RESULT;
      return publish(hub, client, data, true, undefined, result);
    }
    case undefined:
      return hub.send(client, fail('the binary message is empty').reply, false);
    default:
      return hub.send(client, fail('byte 0 is neither "e" nor "b"').reply, false);
  }
}

// Bytes and not a string, which would be turned into UTF-8 once for every client.
function encode(message) {
  return Buffer.from(JSON.stringify(message));
}

module.exports = { answer };
