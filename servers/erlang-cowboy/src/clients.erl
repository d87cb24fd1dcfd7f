%% The connected clients: their processes, and for each the number of bytes that wait in its
%% mailbox. Does not write to sockets.
-module(clients).
-behaviour(gen_server).
-export([start/0, join/1, broadcast/2, publish/3, taken/2]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).

%% docs/protocol.md, "Limits"; bytes.
-define(MAX_QUEUED, 64 * 1024 * 1024).

%% A slot is the index of a count and, above its bits, how many clients had that count before. A
%% count is a number of bytes and, above its bits, the same number of clients. Both stay small
%% integers, of 60 bits.
-define(INDEX_BITS, 27).
-define(BYTES_BITS, 40).
-define(EARLIER_BITS, 19).

start() ->
    gen_server:start({local, ?MODULE}, ?MODULE, none, []).

%% Adds a process until it ends. The answer says where the count of its queued bytes stands.
join(Pid) ->
    gen_server:call(?MODULE, {join, Pid}, infinity).

%% Puts a frame into the mailbox of every client but the sender. A client for which more than
%% 64 MiB would then wait is killed, and so its connection closed; one message is taken whatever
%% its size.
broadcast(Frame, Sender) ->
    deliver(ets:tab2list(?MODULE), Frame, {broadcast, Frame}, Sender).

%% The same for every subscriber of the topic but the sender.
publish(Topic, Frame, Sender) ->
    deliver(topics:subscribers(Topic), Frame, {publish, Topic, Frame}, Sender).

deliver(Clients, {_Type, Payload}, Message, Sender) ->
    Size = byte_size(Payload),
    Counts = persistent_term:get(?MODULE),
    lists:foreach(
        fun ({Pid, _Slot}) when Pid =:= Sender ->
                ok;
            ({Pid, Slot}) ->
                case charge(Counts, Slot, Size) of
                    gone -> ok;
                    Queued when Queued > ?MAX_QUEUED, Queued > Size -> exit(Pid, kill);
                    _ -> Pid ! Message
                end
        end,
        Clients).

%% The bytes that wait with these. The client may have ended since the list of clients was made, and
%% another one have its count.
charge(Counts, Slot, Size) ->
    Count = atomics:add_get(Counts, index(Slot), Size),
    case earlier(Slot) of
        Earlier when Earlier =:= Count bsr ?BYTES_BITS ->
            Count band (1 bsl ?BYTES_BITS - 1);
        _ ->
            take_back(Counts, index(Slot), Size, Count),
            gone
    end.

%% Unless the count has been given to the next client meanwhile, and begun anew.
take_back(Counts, Index, Size, Count) ->
    case atomics:compare_exchange(Counts, Index, Count, Count - Size) of
        ok -> ok;
        Now when Now bsr ?BYTES_BITS =:= Count bsr ?BYTES_BITS -> take_back(Counts, Index, Size, Now);
        _ -> ok
    end.

%% Counts a frame off that the client has taken out of its mailbox.
taken(Slot, {_Type, Payload}) ->
    atomics:sub(persistent_term:get(?MODULE), index(Slot), byte_size(Payload)).

index(Slot) ->
    Slot band (1 bsl ?INDEX_BITS - 1).

earlier(Slot) ->
    Slot bsr ?INDEX_BITS.

%% The state: the lowest index that no client has had, and the slots of clients that have ended.
init(none) ->
    %% A count of its own for each client would be a reference, which is copied out of the table
    %% with each broadcast. Each client has a port, so there are counts enough.
    Counts = erlang:system_info(port_limit),
    persistent_term:put(?MODULE, atomics:new(Counts, [])),
    ets:new(?MODULE, [ordered_set, named_table, {read_concurrency, true}]),
    topics:create(),
    {ok, {1, []}}.

handle_call({join, Pid}, _From, Free) ->
    %% Twice, where a request that was no handshake came first on the connection.
    case ets:lookup(?MODULE, Pid) of
        [{Pid, Slot}] -> {reply, Slot, Free};
        [] -> insert(Pid, Free)
    end.

handle_cast(_Message, Free) ->
    {noreply, Free}.

handle_info({'DOWN', _Monitor, process, Pid, _Reason}, {Unused, Ended}) ->
    topics:forget(Pid),
    [{Pid, Slot}] = ets:take(?MODULE, Pid),
    {noreply, {Unused, [Slot | Ended]}}.

insert(Pid, Free) ->
    {Slot, Rest} = next(Free),
    monitor(process, Pid),
    atomics:put(persistent_term:get(?MODULE), index(Slot), earlier(Slot) bsl ?BYTES_BITS),
    ets:insert(?MODULE, {Pid, Slot}),
    {reply, Slot, Rest}.

next({Unused, []}) ->
    {Unused, {Unused + 1, []}};
next({Unused, [Slot | Ended]}) ->
    Earlier = (earlier(Slot) + 1) band (1 bsl ?EARLIER_BITS - 1),
    {Earlier bsl ?INDEX_BITS bor index(Slot), {Unused, Ended}}.
