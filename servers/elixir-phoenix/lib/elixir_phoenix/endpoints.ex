defmodule ElixirPhoenix.Endpoints do
  @moduledoc """
  What the endpoints share. They are three because Phoenix fixes a socket's options
  when it is compiled: the web servers count the limits differently, and one endpoint
  has Phoenix's own time-out.
  """

  # docs/protocol.md, "Limits"; bytes of a whole message, over all fragments.
  @max_message 16 * 1024 * 1024

  @doc "A `Phoenix.Endpoint` whose sockets have these options."
  defmacro __using__(options) do
    quote do
      use Phoenix.Endpoint, otp_app: :elixir_phoenix

      @websocket [compress: false] ++ unquote(options)

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

  @doc "The largest message, in bytes, as Cowboy bounds it: in fragments or not."
  def cowboy, do: [max_frame_size: @max_message]

  @doc """
  The same for Bandit, which bounds the message that came in fragments, and of the
  single frame the header too; that has 14 bytes at this length.
  """
  def bandit,
    do: [max_frame_size: @max_message + 14, max_fragmented_message_size: @max_message]
end

defmodule ElixirPhoenix.BanditEndpoint do
  @moduledoc "The endpoint on Bandit."
  use ElixirPhoenix.Endpoints, [timeout: :infinity] ++ ElixirPhoenix.Endpoints.bandit()
end

defmodule ElixirPhoenix.BanditTimeoutEndpoint do
  @moduledoc "The same with Phoenix's own time-out: 60 s in which nothing comes end a connection."
  use ElixirPhoenix.Endpoints, ElixirPhoenix.Endpoints.bandit()
end

defmodule ElixirPhoenix.CowboyEndpoint do
  @moduledoc "The endpoint on Cowboy."
  use ElixirPhoenix.Endpoints, [timeout: :infinity] ++ ElixirPhoenix.Endpoints.cowboy()
end
