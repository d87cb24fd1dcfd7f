%% Who is subscribed to what. Each process enters and removes itself; the entries of one that has
%% ended are removed by clients, which owns the tables. They are ordered, so that entering and
%% leaving take the logarithm of their size.
-module(topics).
-export([create/0, subscribe/2, unsubscribe/1, forget/1, subscribers/1]).

%% From {Topic, Pid} to the client's slot.
-define(SUBSCRIBERS, topics_subscribers).
%% {Pid, Topic}, to find what a process has left behind.
-define(SUBSCRIPTIONS, topics_subscriptions).

%% Makes the tables, for the calling process to own.
create() ->
    Options = [ordered_set, named_table, public,
               {read_concurrency, true}, {write_concurrency, true}],
    ets:new(?SUBSCRIBERS, Options),
    ets:new(?SUBSCRIPTIONS, Options).

%% Enters the calling process.
subscribe(Topic, Slot) ->
    ets:insert(?SUBSCRIPTIONS, {{self(), Topic}}),
    ets:insert(?SUBSCRIBERS, {{Topic, self()}, Slot}).

%% Removes the calling process. What was published before may still come.
unsubscribe(Topic) ->
    remove(Topic, self()).

%% Removes all entries of a process that has ended.
forget(Pid) ->
    Topics = ets:select(?SUBSCRIPTIONS, [{{{Pid, '$1'}}, [], ['$1']}]),
    lists:foreach(fun (Topic) -> remove(Topic, Pid) end, Topics).

%% Processes with their slots.
subscribers(Topic) ->
    ets:select(?SUBSCRIBERS, [{{{Topic, '$1'}, '$2'}, [], [{{'$1', '$2'}}]}]).

remove(Topic, Pid) ->
    ets:delete(?SUBSCRIBERS, {Topic, Pid}),
    ets:delete(?SUBSCRIPTIONS, {Pid, Topic}).
