defmodule ElixirPhoenix.Endpoints do
  @moduledoc """
  What the endpoints of both web servers share. They are two because Phoenix fixes
  a socket's limits when it is compiled, and the servers count them differently.
  """

  # docs/protocol.md, "Limits"; bytes of a whole message, over all fragments.
  @max_message 16 * 1024 * 1024

  @doc "A `Phoenix.Endpoint` whose sockets have these limits."
  defmacro __using__(limits) do
    quote do
      use Phoenix.Endpoint, otp_app: :elixir_phoenix

      @websocket [timeout: :infinity, compress: false] ++ unquote(limits)

      socket "/socket", ElixirPhoenix.UserSocket,
        websocket: @websocket,
        longpoll: false,
        drainer: false

      socket "/raw", ElixirPhoenix.RawEcho, websocket: @websocket, longpoll: false, drainer: false

      plug :not_found

      defp not_found(conn, _options),
        do: Plug.Conn.send_resp(conn, 404, "the WebSocket is at /socket/websocket\n")
    end
  end

  @doc "The largest message, in bytes."
  def max_message, do: @max_message
end

defmodule ElixirPhoenix.BanditEndpoint do
  @moduledoc """
  The endpoint on Bandit, which bounds the message that came in fragments, and of
  the single frame the header too; that has 14 bytes at this length.
  """
  use ElixirPhoenix.Endpoints,
    max_frame_size: ElixirPhoenix.Endpoints.max_message() + 14,
    max_fragmented_message_size: ElixirPhoenix.Endpoints.max_message()
end

defmodule ElixirPhoenix.CowboyEndpoint do
  @moduledoc "The endpoint on Cowboy, which bounds the message, in fragments or not."
  use ElixirPhoenix.Endpoints, max_frame_size: ElixirPhoenix.Endpoints.max_message()
end
