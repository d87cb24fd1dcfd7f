defmodule ElixirPhoenix.RawEcho do
  @moduledoc "Sends every message back as it came, for Autobahn|Testsuite. Knows no channels."
  @behaviour Phoenix.Socket.Transport

  @impl true
  def child_spec(_options), do: :ignore

  @impl true
  def connect(_request), do: {:ok, nil}

  @impl true
  def init(nil), do: {:ok, nil}

  @impl true
  def handle_in({message, opcode: opcode}, nil), do: {:reply, :ok, {opcode, message}, nil}

  @impl true
  def handle_info(_message, nil), do: {:ok, nil}

  @impl true
  def terminate(_reason, nil), do: :ok
end
