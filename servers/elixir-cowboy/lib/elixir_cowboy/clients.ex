defmodule ElixirCowboy.Clients do
  @moduledoc """
  The connected clients: their processes, and for each the number of bytes that
  wait in its mailbox. Does not write to sockets.

  An own ETS table rather than a `Registry`, in which a process can only enter
  itself: Cowboy runs the connection's first callback after the handshake is
  answered, and a client that has read the answer could then miss a broadcast.
  """
  use GenServer

  import Bitwise

  alias ElixirCowboy.Topics

  # docs/protocol.md, "Limits"; bytes.
  @max_queued 64 * 1024 * 1024

  # A slot is the index of a count and, above its bits, how many clients had that count
  # before. A count is a number of bytes and, above its bits, the same number of clients.
  # Both stay small integers, of 60 bits.
  @index_bits 27
  @bytes_bits 40
  @earlier_bits 19

  @typedoc "Where the count of a client's queued bytes stands."
  @type slot :: pos_integer

  def start_link(_), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @doc "Adds a process until it ends."
  @spec join(pid) :: slot
  def join(pid), do: GenServer.call(__MODULE__, {:join, pid}, :infinity)

  @doc """
  Puts a frame into the mailbox of every client but `sender`. A client for which
  more than 64 MiB would then wait is killed, and so its connection closed; one
  message is taken whatever its size.
  """
  def broadcast(frame, sender),
    do: deliver(:ets.tab2list(__MODULE__), frame, {:broadcast, frame}, sender)

  @doc "The same for every subscriber of the topic but `sender`."
  def publish(topic, frame, sender),
    do: deliver(Topics.subscribers(topic), frame, {:publish, topic, frame}, sender)

  defp deliver(clients, {_type, payload}, message, sender) do
    size = byte_size(payload)
    counts = :persistent_term.get(__MODULE__)

    Enum.each(clients, fn
      {^sender, _slot} ->
        :ok

      {pid, slot} ->
        case charge(counts, slot, size) do
          :gone -> :ok
          queued when queued > @max_queued and queued > size -> Process.exit(pid, :kill)
          _ -> send(pid, message)
        end
    end)
  end

  # The bytes that wait with these. The client may have ended since the list of clients was
  # made, and another one have its count.
  defp charge(counts, slot, size) do
    count = :atomics.add_get(counts, index(slot), size)

    if count >>> @bytes_bits == earlier(slot) do
      count &&& (1 <<< @bytes_bits) - 1
    else
      take_back(counts, index(slot), size, count)
      :gone
    end
  end

  # Unless the count has been given to the next client meanwhile, and begun anew.
  defp take_back(counts, index, size, count) do
    case :atomics.compare_exchange(counts, index, count, count - size) do
      :ok -> :ok
      now when now >>> @bytes_bits == count >>> @bytes_bits -> take_back(counts, index, size, now)
      _ -> :ok
    end
  end

  @doc "Counts a frame off that the client has taken out of its mailbox."
  def taken(slot, {_type, payload}),
    do: :atomics.sub(:persistent_term.get(__MODULE__), index(slot), byte_size(payload))

  defp index(slot), do: slot &&& (1 <<< @index_bits) - 1
  defp earlier(slot), do: slot >>> @index_bits

  # The state: the lowest index that no client has had, and the slots of clients that have
  # ended.
  @impl true
  def init(nil) do
    # A count of its own for each client would be a reference, which ETS copies at more
    # cost than the whole delivery has; each client has a port, and so a count.
    counts = :erlang.system_info(:port_limit)
    :persistent_term.put(__MODULE__, :atomics.new(counts, []))
    # In the order of the processes' creation, which is kinder to the caches.
    :ets.new(__MODULE__, [:ordered_set, :named_table, read_concurrency: true])
    Topics.create()
    {:ok, {1, []}}
  end

  @impl true
  def handle_call({:join, pid}, _from, free) do
    # Twice, where a request that was no handshake came first on the connection.
    case :ets.lookup(__MODULE__, pid) do
      [{_pid, slot}] ->
        {:reply, slot, free}

      [] ->
        {slot, free} = next(free)
        {:reply, insert(pid, slot), free}
    end
  end

  @impl true
  def handle_info({:DOWN, _monitor, :process, pid, _reason}, {unused, ended}) do
    Topics.forget(pid)
    [{^pid, slot}] = :ets.take(__MODULE__, pid)
    {:noreply, {unused, [slot | ended]}}
  end

  defp insert(pid, slot) do
    Process.monitor(pid)
    :atomics.put(:persistent_term.get(__MODULE__), index(slot), earlier(slot) <<< @bytes_bits)
    :ets.insert(__MODULE__, {pid, slot})
    slot
  end

  defp next({unused, []}), do: {unused, {unused + 1, []}}

  defp next({unused, [slot | ended]}) do
    earlier = earlier(slot) + 1 &&& (1 <<< @earlier_bits) - 1
    {earlier <<< @index_bits ||| index(slot), {unused, ended}}
  end
end
