# frozen_string_literal: true

require 'set'

# The connected clients. Knows no messages.
class Hub
  def initialize
    @clients = Set.new
  end

  def join(client)
    @clients << client
  end

  def leave(client)
    @clients.delete(client)
  end

  # Queues a message on every connection.
  def broadcast(message)
    @clients.each { |client| client.send(message) }
  end
end
