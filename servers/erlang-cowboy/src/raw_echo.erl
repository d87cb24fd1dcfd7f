%% Sends every message back as it came, for Autobahn|Testsuite. Knows no protocol.
-module(raw_echo).
-behaviour(cowboy_websocket).
-export([init/2, websocket_handle/2, websocket_info/2]).

init(Request, Deflate) ->
    {cowboy_websocket, Request, none, client:options(Deflate)}.

websocket_handle({Type, _Message} = Frame, State) when Type =:= text; Type =:= binary ->
    {[Frame], State};
websocket_handle(_Control, State) ->
    {[], State}.

websocket_info(_Other, State) ->
    {[], State}.
