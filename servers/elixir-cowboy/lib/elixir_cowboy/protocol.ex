defmodule ElixirCowboy.Protocol do
  @moduledoc """
  The text and binary dialects of docs/protocol.md: what a message asks for, and
  the frames that answer it. Knows no connections.
  """

  @type frame :: {:text | :binary, binary}

  @doc "The reply to the sender; or a broadcast to all clients, and its result for the sender."
  @spec answer(:text | :binary, binary) :: {:reply, frame} | {:broadcast, frame, frame}
  def answer(:text, json) do
    case decode(json) do
      {:ok, %{"type" => "echo", "payload" => payload}} ->
        {:reply, text("echo", payload)}

      {:ok, %{"type" => "broadcast", "payload" => payload}} ->
        {:broadcast, text("broadcast", payload), text("broadcastResult", payload)}

      {:ok, %{"type" => _, "payload" => _}} ->
        {:reply, text("error", ~s("type" is neither "echo" nor "broadcast"))}

      {:ok, %{}} ->
        {:reply, text("error", ~s("type" or "payload" is missing))}

      {:ok, _} ->
        {:reply, text("error", "the message is not a JSON object")}

      :error ->
        {:reply, text("error", "the message is not JSON")}
    end
  end

  def answer(:binary, <<?e, _::binary>> = message), do: {:reply, {:binary, message}}

  def answer(:binary, <<?b, rest::binary>> = message),
    do: {:broadcast, {:binary, message}, {:binary, <<?r, rest::binary>>}}

  def answer(:binary, <<>>), do: {:reply, text("error", "the binary message is empty")}

  def answer(:binary, _),
    do: {:reply, text("error", ~s(byte 0 is neither "e" nor "b"))}

  defp decode(json) do
    {:ok, :jsx.decode(json, [:return_maps, :strict])}
  rescue
    ArgumentError -> :error
  end

  defp text(type, payload), do: {:text, :jsx.encode(%{"type" => type, "payload" => payload})}
end
