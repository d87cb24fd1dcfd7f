%% One connection. Cowboy runs the callbacks in the process of the connection; what the messages
%% mean is in protocol.
-module(client).
-behaviour(cowboy_websocket).
-export([init/2, websocket_handle/2, websocket_info/2, options/0]).

%% docs/protocol.md, "Limits"; bytes of a whole message, over all fragments.
-define(MAX_MESSAGE, 16 * 1024 * 1024).

%% The options of every WebSocket here.
options() ->
    #{idle_timeout => infinity, max_frame_size => ?MAX_MESSAGE, compress => false}.

init(#{pid := Connection} = Request, []) ->
    {cowboy_websocket, Request, clients:join(Connection), options()}.

websocket_handle({Type, Message}, Slot) when Type =:= text; Type =:= binary ->
    case protocol:answer(Type, Message) of
        {reply, Frame} ->
            {[Frame], Slot};
        {broadcast, Frame, Result} ->
            %% The sender's own copy and its result leave in one write, in this order, once the
            %% frame is in the mailbox of every other client: the ack rule.
            clients:broadcast(Frame, self()),
            {[Frame, Result], Slot}
    end;
websocket_handle(_Control, Slot) ->
    {[], Slot}.

websocket_info({broadcast, Frame}, Slot) ->
    clients:taken(Slot, Frame),
    {[Frame], Slot};
websocket_info(_Other, Slot) ->
    {[], Slot}.
