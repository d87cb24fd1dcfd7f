// The text and binary dialects of docs/protocol.md. Knows no sockets: a client
// is something that can be sent to, publish() something that broadcasts.

const ECHO = 0x65; // 'e'
const BROADCAST = 0x62; // 'b'
const RESULT = 0x72; // 'r'

/**
 * Answers one message.
 *
 * @param {ArrayBuffer} message Valid during the call, as the library has it
 * @param {boolean} binary Its dialect
 * @param {(data: string | Uint8Array, binary: boolean) => void} send To the sender
 * @param {(data: string | Uint8Array, binary: boolean, done: () => void) => void} publish
 *     To all clients, copying data; calls done once the result may be sent
 */
export function answer(message, binary, send, publish) {
  const data = Buffer.from(message); // a view, no copy
  if (binary) answerBinary(data, send, publish);
  else answerText(data, send, publish);
}

function answerText(data, send, publish) {
  const { reply, broadcast } = readText(data);
  if (broadcast !== undefined) publish(broadcast, false, () => send(reply, false));
  else send(reply, false);
}

/**
 * @param {Buffer} data
 * @returns {{reply: string, broadcast?: string}} What the sender gets, and what
 *     all clients get before it
 */
function readText(data) {
  try {
    const message = JSON.parse(data);
    if (message === null || typeof message !== 'object' || Array.isArray(message)) {
      return { reply: fail('the message is not a JSON object') };
    }
    const { type, payload } = message;
    if (payload === undefined) return { reply: fail('"payload" is missing') };
    if (type === 'echo') return { reply: encode('echo', payload) };
    if (type === 'broadcast') {
      return {
        reply: encode('broadcastResult', payload),
        broadcast: encode('broadcast', payload)
      };
    }
    return { reply: fail('"type" is neither "echo" nor "broadcast"') };
  } catch (error) {
    // A SyntaxError; or a RangeError for a payload nested deeper than the stack.
    return { reply: fail(`the message cannot be read: ${error.message}`) };
  }
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
      return send(fail('the binary message is empty'), false);
    default:
      return send(fail('byte 0 is neither "e" nor "b"'), false);
  }
}

function fail(words) {
  return encode('error', words);
}

function encode(type, payload) {
  return JSON.stringify({ type, payload });
}
