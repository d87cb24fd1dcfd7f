defmodule ElixirCowboy.Protocol do
  @moduledoc """
  The text and binary dialects of docs/protocol.md: what a message asks for, and
  the frames that answer it. Knows no connections.
  """

  @type frame :: {:text | :binary, binary}

  @typedoc """
  The reply to the sender; or a broadcast to all clients, or a publication to a
  topic, and its result for the sender; or a subscription and its reply.
  """
  @type answer ::
          {:reply, frame}
          | {:broadcast, frame, frame}
          | {:publish, binary, frame, frame}
          | {:subscribe | :unsubscribe, binary, frame}

  @topic ~r/\A[A-Za-z0-9._:-]{1,64}\z/

  @spec answer(:text | :binary, binary) :: answer
  def answer(:text, json) do
    case decode(json) do
      {:ok, %{"type" => "echo", "payload" => payload}} ->
        {:reply, text("echo", payload)}

      {:ok, %{"type" => "broadcast", "payload" => payload}} ->
        {:broadcast, text("broadcast", payload), text("broadcastResult", payload)}

      {:ok, %{"type" => type} = request} when type in ["subscribe", "unsubscribe", "publish"] ->
        about_topic(type, request)

      {:ok, %{"type" => _, "payload" => _}} ->
        {:reply, text("error", ~s("type" is unknown))}

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

  defp about_topic(type, %{"topic" => topic} = request) when is_binary(topic) do
    if topic =~ @topic, do: in_topic(type, topic, request), else: no_topic()
  end

  defp about_topic(_type, _request), do: no_topic()

  defp in_topic("subscribe", topic, _request),
    do: {:subscribe, topic, encode(%{"type" => "subscribed", "topic" => topic})}

  defp in_topic("unsubscribe", topic, _request),
    do: {:unsubscribe, topic, encode(%{"type" => "unsubscribed", "topic" => topic})}

  defp in_topic("publish", topic, %{"payload" => payload}) do
    frame = fn type -> encode(%{"type" => type, "topic" => topic, "payload" => payload}) end
    {:publish, topic, frame.("message"), frame.("publishResult")}
  end

  defp in_topic("publish", _topic, _request),
    do: {:reply, text("error", ~s("payload" is missing))}

  defp no_topic, do: {:reply, text("error", ~s("topic" is missing or no name of a topic))}

  defp decode(json) do
    {:ok, :jsx.decode(json, [:return_maps, :strict])}
  rescue
    ArgumentError -> :error
  end

  defp text(type, payload), do: encode(%{"type" => type, "payload" => payload})

  defp encode(message), do: {:text, :jsx.encode(message)}
end
