defmodule ElixirCowboy.Nodes do
  @moduledoc """
  What makes several nodes of this server one: a process on each, all of them in
  one group of OTP's `:pg`, over distributed Erlang. What is sent to that process
  it delivers to the clients of its node.

  Knows the other nodes by the ports of their servers. Each connects to the others
  when it starts; so one that was restarted is found again.
  """
  use GenServer

  alias ElixirCowboy.Clients

  # The scope of :pg, which is the name of its process, and the group in it.
  @scope Module.concat(__MODULE__, Scope)
  @group :nodes

  @typedoc "A frame for all clients, or for the subscribers of a topic."
  @type message ::
          {:broadcast, ElixirCowboy.Protocol.frame()}
          | {:publish, binary, ElixirCowboy.Protocol.frame()}

  @doc "Needs host and port of this server, and the ports of all."
  def start_link({host, port, ports}),
    do: GenServer.start_link(__MODULE__, {host, port, ports}, name: __MODULE__)

  @doc "Sends a message to all other nodes. Does nothing where there are none."
  @spec share(message) :: :ok
  def share(message) do
    if :persistent_term.get(__MODULE__, false) do
      for pid <- :pg.get_members(@scope, @group), node(pid) != node(), do: send(pid, message)
    end

    :ok
  end

  @impl true
  def init({host, port, ports}) do
    with {:ok, address} <- :inet.getaddr(to_charlist(host), :inet),
         # It would listen on all interfaces.
         :ok = Application.put_env(:kernel, :inet_dist_use_interface, address),
         {:ok, _} <- Node.start(name(address, port), :longnames),
         {:ok, _} <- :pg.start_link(@scope) do
      for other <- ports, other != port, do: Node.connect(name(address, other))
      :ok = :pg.join(@scope, @group, self())
      :persistent_term.put(__MODULE__, true)
      {:ok, nil}
    else
      {:error, reason} -> {:stop, reason}
    end
  end

  @impl true
  def handle_info({:broadcast, frame}, state) do
    Clients.broadcast(frame, nil)
    {:noreply, state}
  end

  def handle_info({:publish, topic, frame}, state) do
    Clients.publish(topic, frame, nil)
    {:noreply, state}
  end

  defp name(address, port), do: :"elixir_cowboy_#{port}@#{:inet.ntoa(address)}"
end
