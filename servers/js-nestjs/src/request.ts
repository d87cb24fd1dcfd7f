// What a message asks for: the parser of the adapter, which hands each request to
// the handler of its name.

const NAME = /^[A-Za-z0-9._:-]{1,64}$/;
const TOPICAL = ['subscribe', 'unsubscribe', 'publish'];
const WITH_PAYLOAD = ['echo', 'broadcast', 'publish'];

export interface Request {
  topic: string;
  payload: unknown;
}

export type Parsed = { event: string; data: Request | Buffer | string };

/** A text message comes as a string, a binary one as a Buffer. */
export function read(message: string | Buffer): Parsed {
  if (typeof message !== 'string') return { event: 'binary', data: message };
  let request: any;
  try {
    request = JSON.parse(message);
  } catch (error) {
    return refuse(`the message cannot be read: ${(error as Error).message}`);
  }
  if (request === null || typeof request !== 'object' || Array.isArray(request)) {
    return refuse('the message is not a JSON object');
  }
  const { type, topic, payload } = request;
  if (TOPICAL.includes(type) && (typeof topic !== 'string' || !NAME.test(topic))) {
    return refuse('"topic" is missing or no name');
  }
  if (WITH_PAYLOAD.includes(type) ? payload === undefined : !TOPICAL.includes(type)) {
    return refuse('"type" is missing or unknown, or "payload" is missing');
  }
  return { event: type, data: { topic, payload } };
}

function refuse(words: string): Parsed {
  return { event: 'refused', data: words };
}
