# frozen_string_literal: true

# Sends every message back as it came, text as text and binary as binary; for
# Autobahn|Testsuite. Action Cable's connection without its message format: no
# welcome, no channels, no heartbeat.
class RawEchoConnection < ActionCable::Connection::Base
  # @return [ActionCable::Server::Base] a server of these connections, beside
  #   the application's own
  def self.server
    @server ||= ActionCable::Server::Base.new(config: config)
  end

  def self.config
    ActionCable::Server::Configuration.new.tap do |config|
      config.logger = Rails.logger
      config.connection_class = -> { self }
      config.allowed_request_origins = Rails.configuration.action_cable.allowed_request_origins
    end
  end
  private_class_method :config

  def on_open; end

  def on_message(message)
    websocket.transmit(message)
  end

  def on_close(_reason, _code); end
end
