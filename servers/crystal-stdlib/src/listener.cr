require "http/request"
require "socket"
require "weak_ref"

# The listening socket. Also finds the connection of a request, which the
# library's WebSocket does not hand out.
class Listener < TCPServer
  # The system may lower it.
  BACKLOG = 4096

  # Weak, and cleared from time to time, since a connection need not become a WebSocket.
  @accepted = {} of Socket::Address => WeakRef(TCPSocket)
  # How many of them call for that.
  @many = 1024

  def initialize(host : String, port : Int32)
    super(host, port, BACKLOG)
    # The connections inherit it.
    self.tcp_nodelay = true
  end

  def accept? : TCPSocket?
    connection = super
    if connection
      forget_closed if @accepted.size >= @many
      @accepted[connection.remote_address] = WeakRef.new(connection)
    end
    connection
  rescue Socket::Error
    # The client is gone already.
    connection
  end

  def connection(request : HTTP::Request) : TCPSocket
    address = request.remote_address
    reference = @accepted.delete(address) if address
    reference.try(&.value) || raise "no connection from #{address}"
  end

  private def forget_closed : Nil
    @accepted.reject! { |_address, reference| reference.value.try(&.closed?) != false }
    @many = {1024, 2 * @accepted.size}.max
  end
end
