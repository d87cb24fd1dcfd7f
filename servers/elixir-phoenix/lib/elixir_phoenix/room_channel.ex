defmodule ElixirPhoenix.RoomChannel do
  @moduledoc "The rooms of the Phoenix dialect of docs/protocol.md: a topic and its channel for each."
  use Phoenix.Channel, log_join: false, log_handle_in: false

  @impl true
  def join("room:" <> name, _params, socket) do
    # docs/protocol.md, "Rooms".
    if name =~ ~r/\A[A-Za-z0-9._:-]{1,64}\z/,
      do: {:ok, socket},
      else: {:error, %{type: "error", reason: "this is no name of a topic"}}
  end

  @impl true
  def handle_in("publish", %{"body" => body}, socket) do
    # As in the lobby: in the mailbox of every client's connection before it returns.
    broadcast!(socket, "message", %{type: "message", body: body})
    {:reply, {:ok, %{type: "publishResult", body: body}}, socket}
  end

  def handle_in("publish", _params, socket),
    do: {:reply, {:error, %{type: "error", reason: ~s("body" is missing)}}, socket}

  def handle_in(_event, _params, socket),
    do: {:reply, {:error, %{type: "error", reason: ~s(the event is not "publish")}}, socket}

  # Phoenix has said phx_close by now, and PubSub would forget the channel only after its end.
  @impl true
  def terminate({:shutdown, :left}, socket) do
    Phoenix.PubSub.unsubscribe(socket.pubsub_server, socket.topic)
    push(socket, "unsubscribed", %{})
  end

  def terminate(_reason, _socket), do: :ok
end
