import Config

# Read at every start: HOST, PORT and ADAPTER (bandit, bandit-timeout or cowboy).

host = System.get_env("HOST", "127.0.0.1")
port = System.get_env("PORT", "4000")
adapter = System.get_env("ADAPTER", "bandit")

port =
  case Integer.parse(port) do
    {number, ""} when number in 0..65535 -> number
    _ -> Mix.raise("PORT=#{port}: give an integer from 0 to 65535")
  end

family = if String.contains?(host, ":"), do: :inet6, else: :inet

address =
  case :inet.getaddr(to_charlist(host), family) do
    {:ok, address} -> address
    {:error, reason} -> Mix.raise("HOST=#{host}: #{:inet.format_error(reason)}")
  end

socket = [backlog: 4096, nodelay: true]

bandit = [
  thousand_island_options: [
    num_connections: :infinity,
    # Milliseconds; its 15 s are for requests that are to be finished.
    shutdown_timeout: 1_000,
    transport_options: socket
  ]
]

cowboy = [
  transport_options: [
    max_connections: :infinity,
    shutdown: :brutal_kill,
    socket_opts: socket
  ]
]

{endpoint, module, http} =
  case adapter do
    "bandit" ->
      {ElixirPhoenix.BanditEndpoint, Bandit.PhoenixAdapter, bandit}

    "bandit-timeout" ->
      {ElixirPhoenix.BanditTimeoutEndpoint, Bandit.PhoenixAdapter, bandit}

    "cowboy" ->
      {ElixirPhoenix.CowboyEndpoint, Phoenix.Endpoint.Cowboy2Adapter, cowboy}

    other ->
      Mix.raise("ADAPTER=#{other}: give bandit, bandit-timeout or cowboy")
  end

config :elixir_phoenix, endpoint: endpoint, host: host, port: port

config :elixir_phoenix, endpoint,
  adapter: module,
  http: [ip: address, port: port] ++ http,
  pubsub_server: ElixirPhoenix.PubSub,
  # Load generators send any Origin or none.
  check_origin: false,
  # Connections have nothing to finish when the server ends.
  drainer: false
