require "http/request"
require "socket"
require "weak_ref"

# The listening socket. Also finds the connection of a request, which the
# library's WebSocket does not hand out.
class Listener < TCPServer
  # The system may lower it.
  BACKLOG = 4096

  # Weak, since most requests never ask for their connection.
  @accepted = {} of Socket::Address => WeakRef(TCPSocket)

  def initialize(host : String, port : Int32)
    super(host, port, BACKLOG)
    # The connections inherit it.
    self.tcp_nodelay = true
  end

  def accept? : TCPSocket?
    connection = super
    @accepted[connection.remote_address] = WeakRef.new(connection) if connection
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
end
