defmodule ElixirPlug.Client do
  @moduledoc """
  One connection, in the process of the connection. What the messages mean is in
  `ElixirPlug.Protocol`.
  """
  @behaviour WebSock

  alias ElixirPlug.{Clients, Protocol}

  @impl true
  def init(slot), do: {:ok, slot}

  @impl true
  def handle_in({message, opcode: type}, slot) do
    case Protocol.answer(type, message) do
      {:reply, frame} ->
        {:push, frame, slot}

      {:broadcast, frame, result} ->
        # The sender's own copy and its result leave in this order, once the frame is in
        # the mailbox of every other client: the ack rule.
        Clients.broadcast(frame, self())
        {:push, [frame, result], slot}
    end
  end

  @impl true
  def handle_info({:broadcast, frame}, slot) do
    Clients.taken(slot, frame)
    {:push, frame, slot}
  end

  def handle_info(_other, slot), do: {:ok, slot}
end
