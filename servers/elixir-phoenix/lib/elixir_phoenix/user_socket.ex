defmodule ElixirPhoenix.UserSocket do
  @moduledoc "The socket at `/socket/websocket`: any client may connect, and join the lobby and rooms."
  use Phoenix.Socket, log: false

  # The first that matches.
  channel "room:lobby", ElixirPhoenix.LobbyChannel
  channel "room:*", ElixirPhoenix.RoomChannel

  @impl true
  def connect(_params, socket, _connect_info), do: {:ok, socket}

  @impl true
  def id(_socket), do: nil
end
