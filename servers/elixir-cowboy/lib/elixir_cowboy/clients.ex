defmodule ElixirCowboy.Clients do
  @moduledoc """
  The connected clients: their processes, and for each the number of bytes that
  wait in its mailbox. Does not write to sockets.

  An own ETS table rather than a `Registry`, in which a process can only enter
  itself: Cowboy runs the connection's first callback after the handshake is
  answered, and a client that has read the answer could then miss a broadcast.
  """
  use GenServer

  alias ElixirCowboy.Topics

  # docs/protocol.md, "Limits"; bytes.
  @max_queued 64 * 1024 * 1024

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
        case :atomics.add_get(counts, slot, size) do
          queued when queued > @max_queued and queued > size -> Process.exit(pid, :kill)
          _ -> send(pid, message)
        end
    end)
  end

  @doc "Counts a frame off that the client has taken out of its mailbox."
  def taken(slot, {_type, payload}),
    do: :atomics.sub(:persistent_term.get(__MODULE__), slot, byte_size(payload))

  @impl true
  def init(nil) do
    # A count of its own for each client would be a reference, which ETS copies at more
    # cost than the whole delivery has; each client has a port, and so a slot.
    slots = :erlang.system_info(:port_limit)
    :persistent_term.put(__MODULE__, :atomics.new(slots, []))
    # In the order of the processes' creation, which is kinder to the caches.
    :ets.new(__MODULE__, [:ordered_set, :named_table, read_concurrency: true])
    Topics.create()
    {:ok, Enum.to_list(1..slots)}
  end

  @impl true
  def handle_call({:join, pid}, _from, free) do
    # Twice, where a request that was no handshake came first on the connection.
    case {:ets.lookup(__MODULE__, pid), free} do
      {[{_pid, slot}], _} -> {:reply, slot, free}
      {[], [slot | free]} -> {:reply, insert(pid, slot), free}
    end
  end

  @impl true
  def handle_info({:DOWN, _monitor, :process, pid, _reason}, free) do
    Topics.forget(pid)
    [{^pid, slot}] = :ets.take(__MODULE__, pid)
    {:noreply, [slot | free]}
  end

  defp insert(pid, slot) do
    Process.monitor(pid)
    :atomics.put(:persistent_term.get(__MODULE__), slot, 0)
    :ets.insert(__MODULE__, {pid, slot})
    slot
  end
end
