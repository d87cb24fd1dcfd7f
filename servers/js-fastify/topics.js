'use strict';

// Who is subscribed to what. Knows no sockets: a client is any object. A topic
// without subscribers, and a client without topics, take no memory.

const NAME = /^[A-Za-z0-9._:-]{1,64}$/;

class Topics {
  #subscribers = new Map(); // topic -> Set of clients
  #topics = new Map(); // client -> Set of topics

  subscribe(client, topic) {
    add(this.#subscribers, topic, client);
    add(this.#topics, client, topic);
  }

  unsubscribe(client, topic) {
    remove(this.#subscribers, topic, client);
    remove(this.#topics, client, topic);
  }

  /** Ends all subscriptions of a client. */
  leave(client) {
    for (const topic of this.#topics.get(client) ?? []) remove(this.#subscribers, topic, client);
    this.#topics.delete(client);
  }

  subscribers(topic) {
    return this.#subscribers.get(topic) ?? [];
  }
}

function add(sets, key, value) {
  const set = sets.get(key);
  if (set) set.add(value);
  else sets.set(key, new Set([value]));
}

function remove(sets, key, value) {
  const set = sets.get(key);
  if (set?.delete(value) && set.size === 0) sets.delete(key);
}

function isTopic(value) {
  return typeof value === 'string' && NAME.test(value);
}

module.exports = { Topics, isTopic };
