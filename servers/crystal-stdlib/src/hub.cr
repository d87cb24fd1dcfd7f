require "./client"
require "./topics"

# The connected clients. Knows no messages.
class Hub
  getter topics = Topics.new

  @clients = Set(Client).new

  def join(client : Client) : Nil
    @clients << client
  end

  def leave(client : Client) : Nil
    @clients.delete(client)
    @topics.leave(client)
  end

  # Queues a message on every connection.
  def broadcast(message : Client::Message) : Nil
    @clients.each(&.send(message))
  end
end
