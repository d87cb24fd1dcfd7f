'use strict';

// The text and binary dialects of docs/protocol.md. Knows no sockets: a client
// is something that can be sent to, publish() something that broadcasts. As in
// the library, a text message is a string and a binary one a Buffer.

const ECHO = 0x65; // 'e'
const BROADCAST = 0x62; // 'b'
const RESULT = 0x72; // 'r'

/**
 * Answers one message.
 *
 * @param {string | Buffer} data The message
 * @param {(data: string | Buffer) => void} send To the sender
 * @param {(data: string | Buffer, done: () => void) => void} publish To
 *     all clients; calls done once the result may be sent
 */
function answer(data, send, publish) {
  const { reply, broadcast } = typeof data === 'string' ? readText(data) : readBinary(data);
  if (broadcast !== undefined) publish(broadcast, () => send(reply));
  else send(reply);
}

/**
 * @param {string} data
 * @returns {{reply: string, broadcast?: string}} What the sender gets, and what
 *     all clients get before it
 */
function readText(data) {
  try {
    const message = JSON.parse(data);
    if (message === null || typeof message !== 'object' || Array.isArray(message)) {
      return fail('the message is not a JSON object');
    }
    const { type, payload } = message;
    if (payload === undefined) return fail('"payload" is missing');
    if (type === 'echo') return { reply: encode('echo', payload) };
    if (type === 'broadcast') {
      return {
        reply: encode('broadcastResult', payload),
        broadcast: encode('broadcast', payload)
      };
    }
    return fail('"type" is neither "echo" nor "broadcast"');
  } catch (error) {
    // A SyntaxError; or a RangeError for a payload nested deeper than the stack.
    return fail(`the message cannot be read: ${error.message}`);
  }
}

/**
 * @param {Buffer} data
 * @returns {{reply: string | Buffer, broadcast?: Buffer}} As readText
 */
function readBinary(data) {
  switch (data[0]) {
    case ECHO:
      return { reply: data };
    case BROADCAST: {
      const reply = Buffer.from(data);
      reply[0] = RESULT;
      return { reply, broadcast: data };
    }
    case undefined:
      return fail('the binary message is empty');
    default:
      return fail('byte 0 is neither "e" nor "b"');
  }
}

function fail(words) {
  return { reply: encode('error', words) };
}

function encode(type, payload) {
  return JSON.stringify({ type, payload });
}

module.exports = { answer };
