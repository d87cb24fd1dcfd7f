// The text and binary dialects of docs/protocol.md. Knows no sockets. As in
// Bun, a text message is a string and a binary one a Buffer.

const ECHO = 0x65; // 'e'
const BROADCAST = 0x62; // 'b'
const RESULT = 0x72; // 'r'

/** The topic of all clients, which is no name that a client could give. */
export const EVERYONE = '/everyone';

const NAME = /^[A-Za-z0-9._:-]{1,64}$/;

/**
 * Answers one message.
 *
 * @param {string | Buffer} data The message
 * @param {object} client The sender: has send(data), subscribe(topic) and
 *     unsubscribe(topic), as Bun's ServerWebSocket
 * @param {(topic: string, data: string | Buffer) => void} publish To the clients
 *     of a topic
 */
export function answer(data, client, publish) {
  const { reply, message, topic, join, leave } =
    typeof data === 'string' ? readText(data) : readBinary(data);
  if (message !== undefined) publish(topic, message);
  if (join !== undefined) client.subscribe(join);
  if (leave !== undefined) client.unsubscribe(leave);
  client.send(reply);
}

/**
 * @param {string} data
 * @returns {{reply: string, message?: string, topic?: string, join?: string,
 *     leave?: string}} What the sender gets; the message that goes to the clients
 *     of the topic before it; the topic that the sender joins or leaves before it
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
        message: encode({ type, payload }),
        topic: EVERYONE
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
 * @returns {{reply: string | Buffer, message?: Buffer, topic?: string}} As readText
 */
function readBinary(data) {
  switch (data[0]) {
    case ECHO:
      return { reply: data };
    case BROADCAST: {
      const reply = Buffer.from(data);
      reply[0] = RESULT;
      return { reply, message: data, topic: EVERYONE };
    }
    case undefined:
      return fail('the binary message is empty');
    default:
      return fail('byte 0 is neither "e" nor "b"');
  }
}

function isTopic(value) {
  return typeof value === 'string' && NAME.test(value);
}

function fail(words) {
  return { reply: encode({ type: 'error', payload: words }) };
}

function encode(message) {
  return JSON.stringify(message);
}
