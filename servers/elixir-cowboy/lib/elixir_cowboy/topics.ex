defmodule ElixirCowboy.Topics do
  @moduledoc """
  Who is subscribed to what. Each process enters and removes itself; the entries
  of one that has ended are removed by `ElixirCowboy.Clients`, which owns the tables.

  Ordered tables, in which entering and leaving take the logarithm of their size. In
  a `Registry` leaving a topic takes a walk over all who are subscribed to it.
  """

  alias ElixirCowboy.Clients

  # From {topic, pid} to the client's slot.
  @subscribers Module.concat(__MODULE__, Subscribers)
  # {pid, topic}, to find what a process has left behind.
  @subscriptions Module.concat(__MODULE__, Subscriptions)

  @doc "Makes the tables, for the calling process to own."
  def create do
    options = [
      :ordered_set,
      :named_table,
      :public,
      read_concurrency: true,
      write_concurrency: true
    ]

    :ets.new(@subscribers, options)
    :ets.new(@subscriptions, options)
  end

  @doc "Enters the calling process."
  @spec subscribe(binary, Clients.slot()) :: true
  def subscribe(topic, slot) do
    :ets.insert(@subscriptions, {{self(), topic}})
    :ets.insert(@subscribers, {{topic, self()}, slot})
  end

  @doc "Removes the calling process. What was published before may still come."
  def unsubscribe(topic), do: remove(topic, self())

  @doc "Removes all entries of a process that has ended."
  def forget(pid) do
    for topic <- :ets.select(@subscriptions, [{{{pid, :"$1"}}, [], [:"$1"]}]) do
      remove(topic, pid)
    end
  end

  @spec subscribers(binary) :: [{pid, Clients.slot()}]
  def subscribers(topic),
    do: :ets.select(@subscribers, [{{{topic, :"$1"}, :"$2"}, [], [{{:"$1", :"$2"}}]}])

  defp remove(topic, pid) do
    :ets.delete(@subscribers, {topic, pid})
    :ets.delete(@subscriptions, {pid, topic})
  end
end
