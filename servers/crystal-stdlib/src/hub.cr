require "./client"

# The connected clients. Knows no messages.
class Hub
  @clients = Set(Client).new

  def join(client : Client) : Nil
    @clients << client
  end

  def leave(client : Client) : Nil
    @clients.delete(client)
  end

  # Queues a message on every connection.
  def broadcast(message : Client::Message) : Nil
    @clients.each(&.send(message))
  end
end
