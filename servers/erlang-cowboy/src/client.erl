%% One connection. Cowboy runs the callbacks in the process of the connection; what the messages
%% mean is in protocol.
-module(client).
-behaviour(cowboy_websocket).
-export([init/2, websocket_handle/2, websocket_info/2, options/1]).

%% docs/protocol.md, "Limits"; bytes of a whole message, over all fragments.
-define(MAX_MESSAGE, 16 * 1024 * 1024).
%% Bytes of a message behind which a process collects its garbage. An idle one would keep it.
-define(LARGE, 256 * 1024).

%% The options of every WebSocket here.
options(Deflate) ->
    #{idle_timeout => infinity, max_frame_size => ?MAX_MESSAGE, compress => Deflate}.

%% The state: the client's slot, and its topics as the keys of a map.
init(#{pid := Connection} = Request, Deflate) ->
    {cowboy_websocket, Request, {clients:join(Connection), #{}}, options(Deflate)}.

websocket_handle({Type, Message}, State) when Type =:= text; Type =:= binary ->
    {Frames, Next} = handle(Type, Message, State),
    case byte_size(Message) > ?LARGE of
        true -> {Frames, Next, hibernate};
        false -> {Frames, Next}
    end;
websocket_handle(_Control, State) ->
    {[], State}.

handle(Type, Message, {Slot, Topics} = State) ->
    case protocol:answer(Type, Message) of
        {reply, Frame} ->
            {[Frame], State};
        {broadcast, Frame, Result} ->
            %% The sender's own copy and its result leave in one write, in this order, once the
            %% frame is in the mailbox of every other client: the ack rule.
            clients:broadcast(Frame, self()),
            {[Frame, Result], State};
        {publish, Topic, Frame, Result} ->
            clients:publish(Topic, Frame, self()),
            {if_subscribed(Topic, Topics, Frame) ++ [Result], State};
        {subscribe, Topic, Frame} ->
            topics:subscribe(Topic, Slot),
            {[Frame], {Slot, Topics#{Topic => []}}};
        {unsubscribe, Topic, Frame} ->
            topics:unsubscribe(Topic),
            {[Frame], {Slot, maps:remove(Topic, Topics)}}
    end.

websocket_info({broadcast, Frame}, {Slot, _Topics} = State) ->
    clients:taken(Slot, Frame),
    {[Frame], State};
%% What was in the mailbox when the client unsubscribed is dropped.
websocket_info({publish, Topic, Frame}, {Slot, Topics} = State) ->
    clients:taken(Slot, Frame),
    {if_subscribed(Topic, Topics, Frame), State};
websocket_info(_Other, State) ->
    {[], State}.

if_subscribed(Topic, Topics, Frame) ->
    case is_map_key(Topic, Topics) of
        true -> [Frame];
        false -> []
    end.
