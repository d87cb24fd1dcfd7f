defmodule ElixirPhoenix.UserSocket do
  @moduledoc "The socket at `/socket/websocket`: any client may connect, and join the lobby."
  use Phoenix.Socket, log: false

  channel "room:lobby", ElixirPhoenix.LobbyChannel

  @impl true
  def connect(_params, socket, _connect_info), do: {:ok, socket}

  @impl true
  def id(_socket), do: nil
end
