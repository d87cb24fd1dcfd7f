# frozen_string_literal: true

# The text and binary dialects of docs/protocol.md, over a Hub.

require 'json'
require_relative 'topics'

class Protocol
  # How deep a payload may be nested; JSON's own default is 100.
  MAX_NESTING = 1000

  def initialize(hub)
    @hub = hub
  end

  # @param client [EM::WebSocket::Connection] the sender
  # @param text [String] UTF-8
  def text(client, text)
    message = JSON.parse(text, max_nesting: MAX_NESTING)
    return fail(client, 'the message is not a JSON object') unless message.is_a?(Hash)

    case message['type']
    when 'subscribe', 'unsubscribe', 'publish' then about_topic(client, message)
    else about_payload(client, message)
    end
  rescue JSON::JSONError => e
    # Also a number beyond the range of a double, which is read as infinity and
    # cannot be written.
    fail(client, "the message cannot be read: #{e.message.scrub.slice(0, 200)}")
  end

  # @param bytes [String] a whole binary message
  def binary(client, bytes)
    case bytes[0]
    when 'e'
      @hub.send_binary(client, bytes)
    when 'b'
      @hub.broadcast_binary(bytes)
      bytes[0] = 'r'
      @hub.send_binary(client, bytes)
    when nil
      fail(client, 'the binary message is empty')
    else
      fail(client, 'byte 0 is neither "e" nor "b"')
    end
  end

  private

  def about_payload(client, message)
    return fail(client, '"payload" is missing') unless message.key?('payload')

    type, payload = message.values_at('type', 'payload')
    case type
    when 'echo'
      @hub.send_text(client, encode('echo', payload))
    when 'broadcast'
      @hub.broadcast_text(encode('broadcast', payload))
      @hub.send_text(client, encode('broadcastResult', payload))
    else
      fail(client, '"type" is unknown')
    end
  end

  def about_topic(client, message)
    type, topic = message.values_at('type', 'topic')
    return fail(client, '"topic" is missing or no name of a topic') unless Topics.name?(topic)

    case type
    when 'subscribe'
      @hub.subscribe(client, topic)
      @hub.send_text(client, JSON.generate({ type: 'subscribed', topic: topic }))
    when 'unsubscribe'
      @hub.unsubscribe(client, topic)
      @hub.send_text(client, JSON.generate({ type: 'unsubscribed', topic: topic }))
    else
      publish(client, topic, message)
    end
  end

  def publish(client, topic, message)
    return fail(client, '"payload" is missing') unless message.key?('payload')

    payload = message['payload']
    @hub.publish_text(topic, encode('message', payload, topic: topic))
    @hub.send_text(client, encode('publishResult', payload, topic: topic))
  end

  def fail(client, words)
    @hub.send_text(client, encode('error', words))
  end

  # @param others [Hash] members beside these two
  def encode(type, payload, others = {})
    JSON.generate({ type: type, **others, payload: payload }, max_nesting: MAX_NESTING)
  end
end
