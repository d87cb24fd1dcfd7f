# frozen_string_literal: true

# The Rack application: makes a client of each handshake and gives its messages
# to a handler.

require 'faye/websocket'
require_relative 'client'

class Application
  # Bytes; docs/protocol.md, "Limits".
  MAX_MESSAGE = 16 * 1024 * 1024

  # @param handler [#text, #binary]
  def initialize(hub, handler)
    @hub = hub
    @handler = handler
  end

  def call(env)
    return [426, { 'Content-Type' => 'text/plain' }, ["WebSocket only\n"]] unless handshake?(env)

    socket = Faye::WebSocket.new(env, nil, max_length: MAX_MESSAGE)
    client = Client.new(socket, env['em.connection'])
    socket.on(:message) { |event| received(client, event.data) }
    socket.on(:close) { @hub.leave(client) }
    # Before the handshake is answered, so that no broadcast behind it is
    # missed; the library keeps until then what is sent.
    @hub.join(client)
    socket.rack_response
  end

  private

  # The library speaks drafts before RFC 6455 to clients without a version, and
  # takes any other version for 13.
  def handshake?(env)
    Faye::WebSocket.websocket?(env) &&
      env['HTTP_SEC_WEBSOCKET_VERSION'] == '13' && env.key?('HTTP_SEC_WEBSOCKET_KEY')
  end

  def received(client, data)
    data.is_a?(String) ? @handler.text(client, data) : @handler.binary(client, data)
  end
end
