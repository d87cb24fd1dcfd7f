// Who is subscribed to what. Knows no sockets: a client is any object. A topic
// without subscribers, and a client without topics, take no memory.

export class Topics<Client> {
  private readonly clients = new Map<string, Set<Client>>();
  private readonly topics = new Map<Client, Set<string>>();

  subscribe(client: Client, topic: string) {
    add(this.clients, topic, client);
    add(this.topics, client, topic);
  }

  unsubscribe(client: Client, topic: string) {
    remove(this.clients, topic, client);
    remove(this.topics, client, topic);
  }

  /** Ends all subscriptions of a client. */
  leave(client: Client) {
    for (const topic of this.topics.get(client) ?? []) remove(this.clients, topic, client);
    this.topics.delete(client);
  }

  subscribers(topic: string): Iterable<Client> {
    return this.clients.get(topic) ?? [];
  }
}

function add<K, V>(sets: Map<K, Set<V>>, key: K, value: V) {
  const set = sets.get(key);
  if (set) set.add(value);
  else sets.set(key, new Set([value]));
}

function remove<K, V>(sets: Map<K, Set<V>>, key: K, value: V) {
  const set = sets.get(key);
  if (set?.delete(value) && set.size === 0) sets.delete(key);
}
