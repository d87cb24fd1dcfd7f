# frozen_string_literal: true

require 'set'
require_relative 'topics'

# The connected clients. Knows no messages.
class Hub
  def initialize
    @clients = Set.new
    @topics = Topics.new
  end

  def join(client)
    @clients << client
  end

  def leave(client)
    @clients.delete(client)
    @topics.leave(client)
  end

  def subscribe(client, topic)
    @topics.subscribe(client, topic)
  end

  def unsubscribe(client, topic)
    @topics.unsubscribe(client, topic)
  end

  # Queues a message on the connection of every subscriber.
  def publish(topic, message)
    @topics.each_subscriber(topic) { |client| client.send(message) }
  end

  # Queues a message on every connection.
  def broadcast(message)
    @clients.each { |client| client.send(message) }
  end
end
