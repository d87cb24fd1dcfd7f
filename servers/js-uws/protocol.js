// The text and binary dialects of docs/protocol.md. Knows no sockets: a client
// is something that can be sent to and has topics, publish() something that
// reaches the clients of a topic.

const ECHO = 0x65; // 'e'
const BROADCAST = 0x62; // 'b'
const RESULT = 0x72; // 'r'

/** The topic of all clients, which is no name that a client could give. */
export const EVERYONE = '/everyone';

const NAME = /^[A-Za-z0-9._:-]{1,64}$/;

/**
 * Answers one message.
 *
 * @param {ArrayBuffer} message Valid during the call, as the library has it
 * @param {boolean} binary Its dialect
 * @param {object} client The sender: has send(data, binary), subscribe(topic) and
 *     unsubscribe(topic)
 * @param {(topic: string, data: string | Uint8Array, binary: boolean,
 *     done: () => void) => void} publish To the clients of a topic, copying data;
 *     calls done once the result may be sent
 */
export function answer(message, binary, client, publish) {
  const data = Buffer.from(message); // a view, no copy
  if (binary) answerBinary(data, client, publish);
  else answerText(data, client, publish);
}

function answerText(data, client, publish) {
  const { reply, message, topic, join, leave } = readText(data);
  if (message !== undefined) {
    publish(topic, message, false, () => client.send(reply, false));
    return;
  }
  if (join !== undefined) client.subscribe(join);
  if (leave !== undefined) client.unsubscribe(leave);
  client.send(reply, false);
}

/**
 * @param {Buffer} data
 * @returns {{reply: string, message?: string, topic?: string, join?: string,
 *     leave?: string}} What the sender gets; the message that goes to the clients
 *     of the topic before it; the topic that the sender joins or leaves before it
 */
function readText(data) {
  try {
    const request = JSON.parse(data);
    if (request === null || typeof request !== 'object' || Array.isArray(request)) {
      return { reply: fail('the message is not a JSON object') };
    }
    const { type, topic, payload } = request;
    if (type === 'subscribe' || type === 'unsubscribe' || type === 'publish') {
      if (!isTopic(topic)) return { reply: fail('"topic" is missing or no name') };
    }
    if (type === 'subscribe') {
      return { reply: encode({ type: 'subscribed', topic }), join: topic };
    }
    if (type === 'unsubscribe') {
      return { reply: encode({ type: 'unsubscribed', topic }), leave: topic };
    }
    if (payload === undefined) return { reply: fail('"payload" is missing') };
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
    return { reply: fail('"type" is missing or unknown') };
  } catch (error) {
    // A SyntaxError; or a RangeError for a payload nested deeper than the stack.
    return { reply: fail(`the message cannot be read: ${error.message}`) };
  }
}

function isTopic(value) {
  return typeof value === 'string' && NAME.test(value);
}

function answerBinary(data, client, publish) {
  switch (data[0]) {
    case ECHO:
      return client.send(data, true);
    case BROADCAST: {
      const result = Buffer.from(data);
      result[0] = RESULT;
      return publish(EVERYONE, data, true, () => client.send(result, true));
    }
    case undefined:
      return client.send(fail('the binary message is empty'), false);
    default:
      return client.send(fail('byte 0 is neither "e" nor "b"'), false);
  }
}

function fail(words) {
  return encode({ type: 'error', payload: words });
}

function encode(message) {
  return JSON.stringify(message);
}
