defmodule ElixirPhoenix.Application do
  @moduledoc "Starts PubSub and the endpoint that config/runtime.exs has chosen."
  use Application

  @impl true
  def start(_type, _args) do
    [endpoint, host, port] =
      for name <- [:endpoint, :host, :port], do: Application.fetch_env!(:elixir_phoenix, name)

    children = [{Phoenix.PubSub, name: ElixirPhoenix.PubSub}, endpoint]

    with {:error, reason} <- Supervisor.start_link(children, strategy: :one_for_one) do
      {:error,
       "cannot listen on #{host}:#{port}: #{words(reason)}; choose another with HOST or PORT"}
    end
  end

  defp words({:shutdown, {:failed_to_start_child, _child, reason}}), do: words(reason)
  defp words({:listen_error, _listener, reason}), do: words(reason)
  defp words(reason) when is_atom(reason), do: :inet.format_error(reason)
  defp words(reason), do: inspect(reason)
end
