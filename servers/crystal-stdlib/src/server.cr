# crystal-stdlib-server [--host HOST] [--port PORT] [--raw-echo]: reads the
# command line, listens, and makes a client of each WebSocket.

require "http/server"
require "./client"
require "./hub"
require "./listener"
require "./options"
require "./protocol"
require "./raw_echo"

alias CloseCode = HTTP::WebSocket::CloseCode

# Bytes; docs/protocol.md, "Limits". The library has no limit of its own, so that
# a message is refused when it has arrived.
MAX_MESSAGE = 16 * 1024 * 1024

# The library would write to stdout.
Log.setup(:none)

options = Options.parse
begin
  listener = Listener.new(options.host, options.port)
rescue error : Socket::Error
  abort "crystal-stdlib-server: cannot listen on #{options.host}:#{options.port} (#{error.message}); " \
        "choose another with --host or --port"
end

hub = Hub.new
handler = options.raw_echo? ? RawEcho.new : Protocol.new(hub)

websocket = HTTP::WebSocketHandler.new do |socket, context|
  client = Client.new(socket, listener.connection(context.request))
  hub.join(client)
  socket.on_message do |text|
    next if client.ending?
    next client.end(CloseCode::MessageTooBig) if text.bytesize > MAX_MESSAGE
    # The library leaves UTF-8 to the application (RFC 6455, section 8.1).
    next client.end(CloseCode::InvalidFramePayloadData) unless text.valid_encoding?

    handler.text(client, text)
  end
  socket.on_binary do |bytes|
    next if client.ending?
    next client.end(CloseCode::MessageTooBig) if bytes.size > MAX_MESSAGE

    # The library uses the memory again.
    handler.binary(client, bytes.dup)
  end
  socket.on_close do |code, _reason|
    hub.leave(client)
    client.closed(code)
  end
end

server = HTTP::Server.new([websocket]) do |context|
  context.response.respond_with_status(:upgrade_required)
end
server.bind(listener)
server.listen
