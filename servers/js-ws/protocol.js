'use strict';

// The text and binary dialects of docs/protocol.md. Knows no sockets: a client
// is something that can be sent to, publish() something that broadcasts.

const ECHO = 0x65; // 'e'
const BROADCAST = 0x62; // 'b'
const RESULT = 0x72; // 'r'

/**
 * Answers one message.
 *
 * @param {Buffer} data The message
 * @param {boolean} binary Its dialect
 * @param {(data: Buffer, binary: boolean) => void} send To the sender
 * @param {(data: Buffer, binary: boolean, done: () => void) => void} publish To
 *     all clients; calls done once the result may be sent
 */
function answer(data, binary, send, publish) {
  if (binary) answerBinary(data, send, publish);
  else answerText(data, send, publish);
}

function answerText(data, send, publish) {
  const { reply, broadcast } = readText(data);
  if (broadcast) publish(broadcast, false, () => send(reply, false));
  else send(reply, false);
}

/**
 * @param {Buffer} data
 * @returns {{reply: Buffer, broadcast?: Buffer}} What the sender gets, and what
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

function fail(words) {
  return { reply: encode('error', words) };
}

function answerBinary(data, send, publish) {
  switch (data[0]) {
    case ECHO:
      return send(data, true);
    case BROADCAST: {
      const result = Buffer.from(data);
      result[0] = RESULT;
      return publish(data, true, () => send(result, true));
    }
    case undefined:
      return send(encode('error', 'the binary message is empty'), false);
    default:
      return send(encode('error', 'byte 0 is neither "e" nor "b"'), false);
  }
}

// Bytes and not a string, which would be turned into UTF-8 once for every client.
function encode(type, payload) {
  return Buffer.from(JSON.stringify({ type, payload }));
}

module.exports = { answer };
