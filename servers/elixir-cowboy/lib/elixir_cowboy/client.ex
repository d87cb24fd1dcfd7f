defmodule ElixirCowboy.Client do
  @moduledoc """
  One connection. Cowboy runs the `websocket_*` callbacks in the process of the
  connection; what the messages mean is in `ElixirCowboy.Protocol`.
  """
  @behaviour :cowboy_websocket

  alias ElixirCowboy.{Clients, Nodes, Protocol, Topics}

  # docs/protocol.md, "Limits"; bytes of a whole message, over all fragments.
  @max_message 16 * 1024 * 1024
  # Bytes of a message behind which a process collects its garbage. An idle one would keep it.
  @large 256 * 1024

  @doc "The options of every WebSocket here."
  def options do
    deflate = Application.fetch_env!(:elixir_cowboy, :deflate)
    %{idle_timeout: :infinity, max_frame_size: @max_message, compress: deflate}
  end

  # The state: the client's slot, and its topics as the keys of a map.
  @impl true
  def init(%{pid: connection} = request, []),
    do: {:cowboy_websocket, request, {Clients.join(connection), %{}}, options()}

  @impl true
  def websocket_handle({type, message}, state) when type in [:text, :binary] do
    {frames, state} = handle(type, message, state)
    if byte_size(message) > @large, do: {frames, state, :hibernate}, else: {frames, state}
  end

  def websocket_handle(_control, state), do: {[], state}

  defp handle(type, message, {slot, topics} = state) do
    case Protocol.answer(type, message) do
      {:reply, frame} ->
        {[frame], state}

      {:broadcast, frame, result} ->
        # The sender's own copy and its result leave in one write, in this order, once
        # the frame is in the mailbox of every other client: the ack rule.
        Nodes.share({:broadcast, frame})
        Clients.broadcast(frame, self())
        {[frame, result], state}

      {:publish, topic, frame, result} ->
        Nodes.share({:publish, topic, frame})
        Clients.publish(topic, frame, self())
        {if(is_map_key(topics, topic), do: [frame, result], else: [result]), state}

      {:subscribe, topic, frame} ->
        Topics.subscribe(topic, slot)
        {[frame], {slot, Map.put(topics, topic, [])}}

      {:unsubscribe, topic, frame} ->
        Topics.unsubscribe(topic)
        {[frame], {slot, Map.delete(topics, topic)}}
    end
  end

  @impl true
  def websocket_info({:broadcast, frame}, {slot, _topics} = state) do
    Clients.taken(slot, frame)
    {[frame], state}
  end

  # What was in the mailbox when the client unsubscribed is dropped.
  def websocket_info({:publish, topic, frame}, {slot, topics} = state) do
    Clients.taken(slot, frame)
    {if(is_map_key(topics, topic), do: [frame], else: []), state}
  end

  def websocket_info(_other, state), do: {[], state}
end
