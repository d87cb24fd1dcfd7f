# frozen_string_literal: true

# The open connections, and how much may be queued on them. Knows no messages.

require 'set'
require_relative 'topics'

class Hub
  # Bytes; docs/protocol.md, "Limits".
  MAX_QUEUED = 64 * 1024 * 1024

  # Bytes broadcast between two looks at what is queued on every connection. To
  # look before each send took 12 % of the time of a small broadcast.
  BETWEEN_LOOKS = 1024 * 1024

  def initialize
    @clients = Set.new
    @unlooked = 0
    @topics = Topics.new
  end

  # @param client [EM::WebSocket::Connection] an open one
  def join(client)
    @clients << client
  end

  # To be called before anything else is sent to a client that closes:
  # em-websocket raises an error for it.
  def leave(client)
    @clients.delete(client)
    @topics.leave(client)
  end

  # Nothing, for a client that has left.
  def subscribe(client, topic)
    @topics.subscribe(client, topic) if @clients.include?(client)
  end

  def unsubscribe(client, topic)
    @topics.unsubscribe(client, topic)
  end

  # Queues a text message on every open connection.
  #
  # @param text [String] UTF-8, not frozen: em-websocket changes its encoding
  #   and changes it back
  def broadcast_text(text)
    look(text)
    @clients.each { |client| client.send_text(text) }
  end

  # The same for every subscriber of the topic.
  def publish_text(topic, text)
    look(text)
    @topics.each_subscriber(topic) { |client| client.send_text(text) }
  end

  # Queues a binary message on every open connection.
  def broadcast_binary(bytes)
    look(bytes)
    @clients.each { |client| client.send_binary(bytes) }
  end

  # Queues a text message on one connection, unless it is closing.
  def send_text(client, text)
    client.send_text(text) if room?(client, text)
  end

  # Queues a binary message on one connection, unless it is closing.
  def send_binary(client, bytes)
    client.send_binary(bytes) if room?(client, bytes)
  end

  private

  def look(message)
    @unlooked += message.bytesize
    return if @unlooked < BETWEEN_LOOKS

    @unlooked = 0
    full = @clients.reject { |client| room?(client, message) }
    full.each { |client| leave(client) }
  end

  # False where the connection is closing, or is cut off now because it reads
  # too slowly. One message is always taken when nothing is queued.
  def room?(client, message)
    return false unless client.state == :connected

    queued = client.get_outbound_data_size
    return true if queued.zero? || queued + message.bytesize <= MAX_QUEUED

    client.close_connection
    false
  end
end
