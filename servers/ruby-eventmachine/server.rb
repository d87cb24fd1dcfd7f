# frozen_string_literal: true

# ruby server.rb [-a HOST] [-p PORT] [--raw-echo]: reads the command line,
# listens, and ends on TERM or INT. What a message means is protocol.rb's, who
# is connected hub.rb's.

require 'em-websocket'
require_relative 'hub'
require_relative 'options'
require_relative 'protocol'
require_relative 'raw_echo'

# Bytes: 16 MiB of payload (docs/protocol.md, "Limits") and the longest header
# of a masked frame, which em-websocket counts as well.
EM::WebSocket.max_frame_size = (16 * 1024 * 1024) + 14

def listen(options)
  hub = Hub.new
  application = options[:raw_echo] ? RawEcho.new(hub) : Protocol.new(hub)
  EM::WebSocket.run(host: options[:address], port: options[:port]) do |client|
    client.onopen { hub.join(client) }
    client.onclose { hub.leave(client) }
    client.onerror { |error| failed(hub, client, error) }
    client.onmessage { |text| application.text(client, text) }
    client.onbinary { |bytes| application.binary(client, bytes) }
  end
end

# em-websocket has begun to close the connection with the proper code.
def failed(hub, client, error)
  hub.leave(client)
  warn "server.rb: #{error.full_message}" unless error.is_a?(EM::WebSocket::WebSocketError)
end

options = Options.parse(ARGV)
EM.epoll
EM.set_descriptor_table_size(Process.getrlimit(:NOFILE).last)

begin
  EM.run do
    %w[TERM INT].each { |signal| trap(signal) { EM.stop } }
    listen(options)
  end
rescue StandardError => e
  raise unless e.message.match?(/acceptor/)

  abort "server.rb: cannot listen on #{options[:address]}:#{options[:port]} (#{e.message}); " \
        'choose another with -a or -p'
end
