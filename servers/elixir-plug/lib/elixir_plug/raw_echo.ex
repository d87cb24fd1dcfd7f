defmodule ElixirPlug.RawEcho do
  @moduledoc "Sends every message back as it came, for Autobahn|Testsuite. Knows no protocol."
  @behaviour WebSock

  @impl true
  def init(nil), do: {:ok, nil}

  @impl true
  def handle_in({message, opcode: type}, nil), do: {:push, {type, message}, nil}

  @impl true
  def handle_info(_other, nil), do: {:ok, nil}
end
