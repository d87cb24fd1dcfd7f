defmodule ElixirPlug.Listener do
  @moduledoc "The web server below Plug, with the same limits for either."

  alias ElixirPlug.Router

  # Without a time-out: the libraries' own cuts off, after 30 s, a client that reads
  # nothing; the bound here is the one on queued bytes, in Clients.
  @socket [backlog: 4096, nodelay: true, send_timeout: :infinity]

  @doc "The child specification of the server that `adapter` names."
  def child_spec("bandit", address, port) do
    {Bandit,
     plug: Router,
     ip: address,
     port: port,
     startup_log: false,
     thousand_island_options: [
       num_connections: :infinity,
       # Milliseconds; its 15 s are for requests that are to be finished.
       shutdown_timeout: 1_000,
       transport_options: @socket
     ]}
  end

  def child_spec("cowboy", address, port) do
    {Plug.Cowboy,
     plug: Router,
     scheme: :http,
     options: [
       ip: address,
       port: port,
       transport_options: [
         max_connections: :infinity,
         shutdown: :brutal_kill,
         socket_opts: @socket
       ]
     ]}
  end
end
