require "./client"

# Who is subscribed to what. Knows no messages. Topics without subscribers, and
# clients without topics, are not kept.
class Topics
  @subscribers = {} of String => Set(Client)
  @subscriptions = {} of Client => Set(String)

  def self.name?(text : String) : Bool
    text.matches?(/\A[A-Za-z0-9._:-]{1,64}\z/)
  end

  def subscribe(client : Client, topic : String) : Nil
    (@subscriptions[client] ||= Set(String).new) << topic
    (@subscribers[topic] ||= Set(Client).new) << client
  end

  def unsubscribe(client : Client, topic : String) : Nil
    topics = @subscriptions[client]?
    return unless topics && topics.delete(topic)

    @subscriptions.delete(client) if topics.empty?
    remove(client, topic)
  end

  # Ends all subscriptions of a client.
  def leave(client : Client) : Nil
    @subscriptions.delete(client).try &.each { |topic| remove(client, topic) }
  end

  # Queues a message on the connection of every subscriber.
  def publish(topic : String, message : Client::Message) : Nil
    @subscribers[topic]?.try &.each(&.send(message))
  end

  private def remove(client, topic) : Nil
    clients = @subscribers[topic]
    clients.delete(client)
    @subscribers.delete(topic) if clients.empty?
  end
end
