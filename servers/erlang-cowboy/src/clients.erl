%% The connected clients: their processes, and for each the number of bytes that wait in its
%% mailbox. Does not write to sockets.
-module(clients).
-behaviour(gen_server).
-export([start/0, join/1, broadcast/2, publish/3, taken/2]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).

%% docs/protocol.md, "Limits"; bytes.
-define(MAX_QUEUED, 64 * 1024 * 1024).

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
                case atomics:add_get(Counts, Slot, Size) of
                    Queued when Queued > ?MAX_QUEUED, Queued > Size -> exit(Pid, kill);
                    _ -> Pid ! Message
                end
        end,
        Clients).

%% Counts a frame off that the client has taken out of its mailbox.
taken(Slot, {_Type, Payload}) ->
    atomics:sub(persistent_term:get(?MODULE), Slot, byte_size(Payload)).

init(none) ->
    %% A count of its own for each client would be a reference, which is copied out of the table
    %% with each broadcast. Each client has a port, so there are slots enough.
    Slots = erlang:system_info(port_limit),
    persistent_term:put(?MODULE, atomics:new(Slots, [])),
    ets:new(?MODULE, [ordered_set, named_table, {read_concurrency, true}]),
    topics:create(),
    {ok, lists:seq(1, Slots)}.

handle_call({join, Pid}, _From, Free) ->
    %% Twice, where a request that was no handshake came first on the connection.
    case ets:lookup(?MODULE, Pid) of
        [{Pid, Slot}] -> {reply, Slot, Free};
        [] -> insert(Pid, Free)
    end.

handle_cast(_Message, Free) ->
    {noreply, Free}.

handle_info({'DOWN', _Monitor, process, Pid, _Reason}, Free) ->
    topics:forget(Pid),
    [{Pid, Slot}] = ets:take(?MODULE, Pid),
    {noreply, [Slot | Free]}.

insert(Pid, [Slot | Free]) ->
    monitor(process, Pid),
    atomics:put(persistent_term:get(?MODULE), Slot, 0),
    ets:insert(?MODULE, {Pid, Slot}),
    {reply, Slot, Free}.
