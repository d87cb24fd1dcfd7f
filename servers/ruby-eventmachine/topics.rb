# frozen_string_literal: true

require 'set'

# Who is subscribed to what. Knows no messages.
class Topics
  NAME = /\A[A-Za-z0-9._:-]{1,64}\z/.freeze

  def self.name?(value)
    value.is_a?(String) && NAME.match?(value)
  end

  def initialize
    # Topics without subscribers, and clients without topics, are not kept.
    @subscribers = {}
    @subscriptions = {}.compare_by_identity
  end

  def subscribe(client, topic)
    (@subscriptions[client] ||= Set.new) << topic
    (@subscribers[topic] ||= Set.new.compare_by_identity) << client
  end

  def unsubscribe(client, topic)
    topics = @subscriptions[client]
    return unless topics&.delete?(topic)

    @subscriptions.delete(client) if topics.empty?
    remove(client, topic)
  end

  # Ends all subscriptions of a client.
  def leave(client)
    @subscriptions.delete(client)&.each { |topic| remove(client, topic) }
  end

  def each_subscriber(topic, &block)
    @subscribers[topic]&.each(&block)
  end

  private

  def remove(client, topic)
    clients = @subscribers[topic]
    clients.delete(client)
    @subscribers.delete(topic) if clients.empty?
  end
end
