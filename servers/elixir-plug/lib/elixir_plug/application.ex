defmodule ElixirPlug.Application do
  @moduledoc """
  Starts the table of clients and the web server. Host, port and adapter are the
  application's environment; the command line is in `Mix.Tasks.Server`.
  """
  use Application

  alias ElixirPlug.{Clients, Listener}

  @impl true
  def start(_type, _args) do
    [host, port, adapter] =
      for name <- [:host, :port, :adapter], do: Application.fetch_env!(:elixir_plug, name)

    with {:ok, address} <- :inet.getaddr(to_charlist(host), family(host)),
         children = [Clients, Listener.child_spec(adapter, address, port)],
         {:ok, supervisor} <- Supervisor.start_link(children, strategy: :one_for_one) do
      {:ok, supervisor}
    else
      {:error, reason} ->
        {:error,
         "cannot listen on #{host}:#{port}: #{words(reason)}; " <>
           "choose another with mix server --host or --port"}
    end
  end

  defp family(host), do: if(String.contains?(host, ":"), do: :inet6, else: :inet)

  defp words({:shutdown, {:failed_to_start_child, _child, reason}}), do: words(reason)
  defp words({:listen_error, _listener, reason}), do: words(reason)
  defp words(reason) when is_atom(reason), do: :inet.format_error(reason)
  defp words(reason), do: inspect(reason)
end
