defmodule ElixirPlug.Router do
  @moduledoc "`/ws` is the protocol, `/raw` a raw echo. Knows neither's messages."
  use Plug.Router

  alias ElixirPlug.{Client, Clients, RawEcho}

  # docs/protocol.md, "Limits"; bytes of a whole message, over all fragments.
  @max_message 16 * 1024 * 1024

  plug :match
  plug :dispatch

  get "/ws", do: upgrade(conn, Client, Clients.join(connection(conn)))

  get "/raw", do: upgrade(conn, RawEcho, nil)

  match _, do: send_resp(conn, 404, "the WebSocket is at /ws\n")

  defp upgrade(conn, websock, state) do
    conn
    |> WebSockAdapter.upgrade(websock, state, [timeout: :infinity, compress: false] ++ size(conn))
    |> halt()
  end

  # Cowboy bounds the message. Bandit bounds the message that came in fragments, and of
  # the single frame the header too, which has 14 bytes at this length.
  defp size(%{adapter: {Plug.Cowboy.Conn, _}}), do: [max_frame_size: @max_message]

  defp size(_conn),
    do: [max_frame_size: @max_message + 14, max_fragmented_message_size: @max_message]

  # Bandit calls the plug in the process of the connection, Cowboy in one of the
  # request's own.
  defp connection(%{adapter: {Plug.Cowboy.Conn, %{pid: pid}}}), do: pid
  defp connection(_conn), do: self()
end
