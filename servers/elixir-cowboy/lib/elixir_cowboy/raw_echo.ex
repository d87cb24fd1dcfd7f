defmodule ElixirCowboy.RawEcho do
  @moduledoc "Sends every message back as it came, for Autobahn|Testsuite. Knows no protocol."
  @behaviour :cowboy_websocket

  @impl true
  def init(request, []), do: {:cowboy_websocket, request, nil, ElixirCowboy.Client.options()}

  @impl true
  def websocket_handle({type, _message} = frame, state) when type in [:text, :binary],
    do: {[frame], state}

  def websocket_handle(_control, state), do: {[], state}

  @impl true
  def websocket_info(_other, state), do: {[], state}
end
