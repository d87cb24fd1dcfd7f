%% The text and binary dialects of docs/protocol.md: what a message asks for, and the frames that
%% answer it. Knows no connections.
-module(protocol).
-export([answer/2]).

%% Characters; docs/protocol.md, "Rooms".
-define(LONGEST_TOPIC, 64).

-type frame() :: {text | binary, binary()}.

%% The reply to the sender; or a broadcast or a publication, and its result for the sender; or a
%% subscription and its reply.
-spec answer(text | binary, binary()) ->
    {reply, frame()} | {broadcast, frame(), frame()} | {publish, binary(), frame(), frame()} |
    {subscribe | unsubscribe, binary(), frame()}.
answer(text, Json) ->
    case decode(Json) of
        #{<<"type">> := <<"echo">>, <<"payload">> := Payload} ->
            {reply, text(echo, Payload)};
        #{<<"type">> := <<"broadcast">>, <<"payload">> := Payload} ->
            {broadcast, text(broadcast, Payload), text(broadcastResult, Payload)};
        #{<<"type">> := <<"subscribe">>} = Request ->
            about_topic(subscribe, Request);
        #{<<"type">> := <<"unsubscribe">>} = Request ->
            about_topic(unsubscribe, Request);
        #{<<"type">> := <<"publish">>} = Request ->
            about_topic(publish, Request);
        #{<<"type">> := _, <<"payload">> := _} ->
            failed(<<"\"type\" is unknown">>);
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

about_topic(Type, #{<<"topic">> := Topic} = Request)
  when is_binary(Topic), Topic =/= <<>>, byte_size(Topic) =< ?LONGEST_TOPIC ->
    case is_topic(Topic) of
        true -> in_topic(Type, Topic, Request);
        false -> no_topic()
    end;
about_topic(_Type, _Request) ->
    no_topic().

in_topic(subscribe, Topic, _Request) ->
    {subscribe, Topic, encode(#{type => subscribed, topic => Topic})};
in_topic(unsubscribe, Topic, _Request) ->
    {unsubscribe, Topic, encode(#{type => unsubscribed, topic => Topic})};
in_topic(publish, Topic, #{<<"payload">> := Payload}) ->
    Frame = fun (Type) -> encode(#{type => Type, topic => Topic, payload => Payload}) end,
    {publish, Topic, Frame(message), Frame(publishResult)};
in_topic(publish, _Topic, _Request) ->
    failed(<<"\"payload\" is missing">>).

is_topic(<<C, Rest/binary>>)
  when C >= $a, C =< $z; C >= $A, C =< $Z; C >= $0, C =< $9; C =:= $.; C =:= $-; C =:= $_; C =:= $: ->
    is_topic(Rest);
is_topic(Rest) ->
    Rest =:= <<>>.

no_topic() ->
    failed(<<"\"topic\" is missing or no name of a topic">>).

decode(Json) ->
    try jsx:decode(Json, [return_maps, strict])
    catch error:badarg -> none
    end.

text(Type, Payload) ->
    encode(#{type => Type, payload => Payload}).

encode(Message) ->
    {text, jsx:encode(Message)}.

failed(Words) ->
    {reply, text(error, Words)}.
