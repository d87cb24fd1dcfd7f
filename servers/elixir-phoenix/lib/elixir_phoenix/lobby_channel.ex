defmodule ElixirPhoenix.LobbyChannel do
  @moduledoc "The Phoenix dialect of docs/protocol.md."
  use Phoenix.Channel, log_join: false, log_handle_in: false

  @impl true
  def join("room:lobby", _params, socket), do: {:ok, socket}

  @impl true
  def handle_in("echo", %{"body" => body}, socket),
    do: {:reply, {:ok, %{type: "echo", body: body}}, socket}

  def handle_in("broadcast", %{"body" => body}, socket) do
    # PubSub runs in this process and puts the encoded frame into the mailbox of every
    # client's connection, the sender's too, before it returns: the ack rule.
    broadcast!(socket, "broadcast", %{type: "broadcast", body: body})
    {:reply, {:ok, %{type: "broadcastResult", body: body}}, socket}
  end

  def handle_in(event, _params, socket) when event in ["echo", "broadcast"],
    do: {:reply, {:error, %{type: "error", reason: ~s("body" is missing)}}, socket}

  def handle_in(_event, _params, socket) do
    reason = ~s(the event is neither "echo" nor "broadcast")
    {:reply, {:error, %{type: "error", reason: reason}}, socket}
  end
end
