defmodule ElixirCowboy.Application do
  @moduledoc """
  Starts the registry of clients, the way to other nodes where there are any, and
  the listener. Host, port and the other nodes' ports are the application's environment; the command line is in `Mix.Tasks.Server`.
  """
  use Application

  alias ElixirCowboy.{Client, Clients, Nodes, RawEcho}

  @impl true
  def start(_type, _args) do
    host = Application.fetch_env!(:elixir_cowboy, :host)
    port = Application.fetch_env!(:elixir_cowboy, :port)

    with {:ok, supervisor} <- Supervisor.start_link(children(host, port), strategy: :one_for_one),
         {:ok, _listener} <- listen(host, port) do
      {:ok, supervisor}
    end
  end

  @impl true
  def stop(_state), do: :cowboy.stop_listener(__MODULE__)

  defp children(host, port) do
    case Application.fetch_env(:elixir_cowboy, :node_ports) do
      :error -> [Clients]
      {:ok, ports} -> [Clients, {Nodes, {host, port, ports}}]
    end
  end

  defp listen(host, port) do
    with {:ok, address} <- :inet.getaddr(to_charlist(host), family(host)),
         {:ok, listener} <- start_listener(address, port) do
      {:ok, listener}
    else
      {:error, reason} ->
        {:error,
         "cannot listen on #{host}:#{port}: #{:inet.format_error(reason)}; " <>
           "choose another with mix server --host or --port"}
    end
  end

  defp start_listener(address, port) do
    case Application.fetch_env(:elixir_cowboy, :tls_cert) do
      :error ->
        :cowboy.start_clear(__MODULE__, transport(address, port, []), protocol())

      {:ok, certificate} ->
        {:ok, _} = Application.ensure_all_started(:ssl)
        key = Application.fetch_env!(:elixir_cowboy, :tls_key)
        tls = [certfile: certificate, keyfile: key]
        :cowboy.start_tls(__MODULE__, transport(address, port, tls), protocol())
    end
  end

  defp family(host), do: if(String.contains?(host, ":"), do: :inet6, else: :inet)

  defp transport(address, port, tls) do
    %{
      max_connections: :infinity,
      # Connections have nothing to finish when the server ends.
      shutdown: :brutal_kill,
      socket_opts:
        [
          ip: address,
          port: port,
          backlog: 4096,
          nodelay: true,
          # Ranch's default cuts off, after 30 s, a client that reads nothing; the bound
          # here is the one on queued bytes, in Clients.
          send_timeout: :infinity
        ] ++ tls
    }
  end

  defp protocol do
    # Every path but /raw is the WebSocket's.
    routes = [{:_, [{"/raw", RawEcho, []}, {:_, Client, []}]}]
    %{env: %{dispatch: :cowboy_router.compile(routes)}}
  end
end
