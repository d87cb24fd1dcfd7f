defmodule ElixirCowboy.Client do
  @moduledoc """
  One connection. Cowboy runs the `websocket_*` callbacks in the process of the
  connection; what the messages mean is in `ElixirCowboy.Protocol`.
  """
  @behaviour :cowboy_websocket

  alias ElixirCowboy.{Clients, Protocol}

  # docs/protocol.md, "Limits"; bytes of a whole message, over all fragments.
  @max_message 16 * 1024 * 1024

  @doc "The options of every WebSocket here."
  def options, do: %{idle_timeout: :infinity, max_frame_size: @max_message, compress: false}

  @impl true
  def init(%{pid: connection} = request, []),
    do: {:cowboy_websocket, request, Clients.join(connection), options()}

  @impl true
  def websocket_handle({type, message}, slot) when type in [:text, :binary] do
    case Protocol.answer(type, message) do
      {:reply, frame} ->
        {[frame], slot}

      {:broadcast, frame, result} ->
        # The sender's own copy and its result leave in one write, in this order, once
        # the frame is in the mailbox of every other client: the ack rule.
        Clients.broadcast(frame, self())
        {[frame, result], slot}
    end
  end

  def websocket_handle(_control, slot), do: {[], slot}

  @impl true
  def websocket_info({:broadcast, frame}, slot) do
    Clients.taken(slot, frame)
    {[frame], slot}
  end

  def websocket_info(_other, slot), do: {[], slot}
end
