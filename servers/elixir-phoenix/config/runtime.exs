import Config

# Read at every start: HOST, PORT and ADAPTER (bandit or cowboy); of several nodes, NODE_PORTS,
# the ports of all, separated by commas.

host = System.get_env("HOST", "127.0.0.1")
port = System.get_env("PORT", "4000")
adapter = System.get_env("ADAPTER", "bandit")

read_port = fn name, text ->
  case Integer.parse(text) do
    {number, ""} when number in 0..65535 -> number
    _ -> Mix.raise("#{name}=#{text}: give an integer from 0 to 65535")
  end
end

port = read_port.("PORT", port)

node_ports =
  System.get_env("NODE_PORTS", "")
  |> String.split(",", trim: true)
  |> Enum.map(&read_port.("NODE_PORTS", &1))

family = if String.contains?(host, ":"), do: :inet6, else: :inet

address =
  case :inet.getaddr(to_charlist(host), family) do
    {:ok, address} -> address
    {:error, reason} -> Mix.raise("HOST=#{host}: #{:inet.format_error(reason)}")
  end

socket = [backlog: 4096, nodelay: true]

{endpoint, http} =
  case adapter do
    "bandit" ->
      {ElixirPhoenix.BanditEndpoint,
       thousand_island_options: [
         num_connections: :infinity,
         # Milliseconds; its 15 s are for requests that are to be finished.
         shutdown_timeout: 1_000,
         transport_options: socket
       ]}

    "cowboy" ->
      {ElixirPhoenix.CowboyEndpoint,
       transport_options: [
         max_connections: :infinity,
         shutdown: :brutal_kill,
         socket_opts: socket
       ]}

    other ->
      Mix.raise("ADAPTER=#{other}: give bandit or cowboy")
  end

config :elixir_phoenix,
  endpoint: endpoint,
  host: host,
  address: address,
  port: port,
  node_ports: node_ports

config :elixir_phoenix, endpoint,
  adapter:
    if(adapter == "bandit", do: Bandit.PhoenixAdapter, else: Phoenix.Endpoint.Cowboy2Adapter),
  http: [ip: address, port: port] ++ http,
  pubsub_server: ElixirPhoenix.PubSub,
  # Load generators send any Origin or none.
  check_origin: false,
  # Connections have nothing to finish when the server ends.
  drainer: false
