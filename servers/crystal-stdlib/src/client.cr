require "http/web_socket"

# One connection: the messages that wait for it, and the fiber that writes them.
#
# A fiber of its own, since the library's `send` waits for a peer that does not
# read, and must not be called by two fibers at the same time.
class Client
  # Bytes; docs/protocol.md, "Limits".
  MAX_QUEUED = 64 * 1024 * 1024

  # A text or a binary message.
  alias Message = String | Bytes

  getter? ending = false

  @messages = Deque(Message).new
  @queued = 0
  @idle = false
  @filled = Channel(Nil).new(1)
  @written = Channel(Nil).new # closed when nothing is written any more
  @code : HTTP::WebSocket::CloseCode?

  def initialize(@socket : HTTP::WebSocket, @connection : TCPSocket)
    spawn { write }
  end

  # Queues a message; does not wait. A client for which more would wait is cut
  # off; one message is taken whatever its size.
  def send(message : Message) : Nil
    return if ending?
    return cut_off if @queued > 0 && @queued + message.bytesize > MAX_QUEUED

    @messages << message
    @queued += message.bytesize
    wake
  end

  # Sends what is queued and then a close frame; does not wait.
  def end(code : HTTP::WebSocket::CloseCode? = nil) : Nil
    return if ending?

    @code = code
    @ending = true
    wake
  end

  # To be called when the peer has closed. Waits until the answer is written.
  def closed(code : HTTP::WebSocket::CloseCode) : Nil
    case code
    when .abnormal_closure?
      drop
    when .no_status_received?
      self.end
      @written.receive?
    else
      self.end(code)
      @written.receive?
    end
  end

  private def write : Nil
    loop do
      while message = @messages.shift?
        @socket.send(message)
        @queued -= message.bytesize
      end
      break if ending?

      @idle = true
      @filled.receive
    end
    @socket.close(@code)
  rescue IO::Error
    # The fiber that reads meets it too.
  ensure
    drop
    @written.close
  end

  private def wake : Nil
    return unless @idle

    @idle = false
    @filled.send(nil)
  end

  private def drop : Nil
    @ending = true
    @messages.clear
    wake
  end

  # `close` would first flush what the peer does not read.
  private def cut_off : Nil
    drop
    @connection.close_write
    @connection.close_read
  rescue Socket::Error
    # The peer was faster.
  end
end
