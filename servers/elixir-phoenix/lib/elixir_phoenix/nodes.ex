defmodule ElixirPhoenix.Nodes do
  @moduledoc """
  Connects this node to others, over distributed Erlang. What is broadcast then
  reaches their clients by Phoenix.PubSub's own adapter, on OTP's `:pg`.

  Knows the other nodes by the ports of their servers. Each connects to the others
  when it starts; so one that was restarted is found again.
  """

  @doc "Needs the address and the port of this server, and the ports of all; of one node, none."
  @spec connect(:inet.ip_address(), :inet.port_number(), [:inet.port_number()]) ::
          :ok | {:error, term}
  def connect(_address, _port, []), do: :ok

  def connect(address, port, ports) do
    # It would listen on all interfaces.
    Application.put_env(:kernel, :inet_dist_use_interface, address)

    with {:ok, _} <- Node.start(name(address, port), :longnames) do
      for other <- ports, other != port, do: Node.connect(name(address, other))
      :ok
    end
  end

  defp name(address, port), do: :"elixir_phoenix_#{port}@#{:inet.ntoa(address)}"
end
