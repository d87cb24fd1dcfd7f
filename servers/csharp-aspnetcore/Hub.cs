using System.Collections.Concurrent;

namespace Shootout;

/// <summary>Who is connected, and who is subscribed to what. A topic without subscribers takes no memory.</summary>
sealed class Hub
{
    readonly ConcurrentDictionary<Client, byte> clients = new();
    readonly Dictionary<string, HashSet<Client>> topics = [];

    public void Join(Client client) => clients.TryAdd(client, 0);

    public void Leave(Client client)
    {
        clients.TryRemove(client, out _);
        lock (topics)
        {
            foreach (string topic in client.Topics.ToArray())
            {
                Remove(client, topic);
            }
        }
    }

    /// <summary>Queues the message on every connection.</summary>
    public void Broadcast(Message message)
    {
        foreach (KeyValuePair<Client, byte> client in clients)
        {
            client.Key.Send(message);
        }
    }

    /// <summary>Queues the message on the connection of every subscriber.</summary>
    public void Publish(string topic, Message message)
    {
        lock (topics)
        {
            if (topics.TryGetValue(topic, out HashSet<Client>? subscribers))
            {
                foreach (Client client in subscribers)
                {
                    client.Send(message);
                }
            }
        }
    }

    /// <summary>Nothing of the topic comes before the answer.</summary>
    public void Subscribe(Client client, string topic, Message answer)
    {
        lock (topics)
        {
            if (!topics.TryGetValue(topic, out HashSet<Client>? subscribers))
            {
                topics[topic] = subscribers = [];
            }
            subscribers.Add(client);
            client.Topics.Add(topic);
            client.Send(answer);
        }
    }

    /// <summary>Nothing of the topic comes after the answer.</summary>
    public void Unsubscribe(Client client, string topic, Message answer)
    {
        lock (topics)
        {
            Remove(client, topic);
            client.Send(answer);
        }
    }

    void Remove(Client client, string topic)
    {
        client.Topics.Remove(topic);
        if (topics.TryGetValue(topic, out HashSet<Client>? subscribers))
        {
            subscribers.Remove(client);
            if (subscribers.Count == 0)
            {
                topics.Remove(topic);
            }
        }
    }
}
