%% The text and binary dialects of docs/protocol.md: what a message asks for, and the frames that
%% answer it. Knows no connections.
-module(protocol).
-export([answer/2]).

-type frame() :: {text | binary, binary()}.

%% The reply to the sender; or a broadcast, and its result for the sender.
-spec answer(text | binary, binary()) -> {reply, frame()} | {broadcast, frame(), frame()}.
answer(text, Json) ->
    case decode(Json) of
        #{<<"type">> := <<"echo">>, <<"payload">> := Payload} ->
            {reply, text(echo, Payload)};
        #{<<"type">> := <<"broadcast">>, <<"payload">> := Payload} ->
            {broadcast, text(broadcast, Payload), text(broadcastResult, Payload)};
        #{<<"type">> := _, <<"payload">> := _} ->
            failed(<<"\"type\" is neither \"echo\" nor \"broadcast\"">>);
        #{} ->
            failed(<<"\"type\" or \"payload\" is missing">>);
        _ ->
            failed(<<"the message is not a JSON object">>)
    end;
answer(binary, <<$e, _/binary>> = Message) ->
    {reply, {binary, Message}};
answer(binary, <<$b, Rest/binary>> = Message) ->
    {broadcast, {binary, Message}, {binary, <<$r, Rest/binary>>}};
answer(binary, _) ->
    failed(<<"byte 0 is neither \"e\" nor \"b\"">>).

decode(Json) ->
    try jsx:decode(Json, [return_maps, strict])
    catch error:badarg -> none
    end.

text(Type, Payload) ->
    {text, jsx:encode(#{type => Type, payload => Payload})}.

failed(Words) ->
    {reply, text(error, Words)}.
