# frozen_string_literal: true

# ruby server.rb [--host HOST] [--port PORT] [--raw-echo]: reads the command
# line, starts Thin with the application, and ends on TERM or INT.

require 'eventmachine'
require 'faye/websocket'
require 'rack'
require 'thin'
require_relative 'application'
require_relative 'hub'
require_relative 'options'
require_relative 'protocol'
require_relative 'raw_echo'

options = Options.parse(ARGV)
Faye::WebSocket.load_adapter('thin')
Thin::Logging.silent = true

hub = Hub.new
application = Application.new(hub, options[:raw_echo] ? RawEcho.new : Protocol.new(hub))

begin
  # Thin would wait on TERM until the last client has left.
  %w[TERM INT].each { |signal| trap(signal) { EM.stop } }
  Rack::Handler.get('thin').run(application, Host: options[:host], Port: options[:port], signals: false) do |server|
    server.timeout = 0
    server.maximum_connections = Process.getrlimit(:NOFILE).last
    server.config
  end
rescue RuntimeError => e
  raise unless e.message.match?(/acceptor/)

  abort "server.rb: cannot listen on #{options[:host]}:#{options[:port]} (#{e.message}); " \
        'choose another with --host or --port'
end
