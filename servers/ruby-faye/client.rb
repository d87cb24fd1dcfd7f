# frozen_string_literal: true

# One connection, and the bound on what is queued on it.
class Client
  # Bytes; docs/protocol.md, "Limits".
  MAX_QUEUED = 64 * 1024 * 1024

  # @param connection [EventMachine::Connection] the one below the socket, which
  #   the library's adapter for Thin leaves in the Rack environment
  def initialize(socket, connection)
    @socket = socket
    @connection = connection
  end

  # @param message [String, Array<Integer>] a text message, or the bytes of a
  #   binary one: what the library takes and gives
  def send(message)
    @socket.send(message) if room?(message.is_a?(String) ? message.bytesize : message.size)
  end

  private

  # False where the client is cut off now because it reads too slowly. One
  # message is always taken when nothing is queued.
  def room?(size)
    queued = @connection.get_outbound_data_size
    return true if queued.zero? || queued + size <= MAX_QUEUED

    @connection.close_connection
    false
  end
end
