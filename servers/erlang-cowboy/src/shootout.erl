%% The command line and the listener.
-module(shootout).
-export([main/0]).

main() ->
    run(init:get_plain_arguments()).

run(Arguments) ->
    case options(Arguments, #{host => "127.0.0.1", port => 4000, deflate => false}) of
        version -> finish(0, standard_io, versions());
        {error, Words} -> finish(2, standard_error, ["shootout: ", Words]);
        Options -> serve(Options)
    end.

options([], Options) when is_map_key(certfile, Options) =/= is_map_key(keyfile, Options) ->
    {error, "--tls-cert and --tls-key belong together: give both"};
options([], Options) ->
    Options;
options(["--version" | _], _) ->
    version;
options(["--host", Host | Rest], Options) ->
    options(Rest, Options#{host := Host});
options(["--port", Port | Rest], Options) ->
    case string:to_integer(Port) of
        {Number, ""} when Number > 0, Number < 65536 -> options(Rest, Options#{port := Number});
        _ -> {error, ["--port: \"", Port, "\" is not a number from 1 to 65535"]}
    end;
options(["--deflate" | Rest], Options) ->
    options(Rest, Options#{deflate := true});
options(["--tls-cert", File | Rest], Options) ->
    options(Rest, Options#{certfile => File});
options(["--tls-key", File | Rest], Options) ->
    options(Rest, Options#{keyfile => File});
options([Other | _], _) ->
    {error, ["\"", Other, "\" is not known or lacks its value; there are --host HOST, --port PORT, ",
             "--deflate, --tls-cert FILE, --tls-key FILE and --version"]}.

serve(#{host := Host, port := Port} = Options) ->
    %% Errors only, and to stderr.
    logger:set_primary_config(level, error),
    logger:remove_handler(default),
    logger:add_handler(default, logger_std_h, #{config => #{type => standard_error}}),
    {ok, _} = application:ensure_all_started(cowboy),
    {ok, _} = application:ensure_all_started(jsx),
    {ok, _} = clients:start(),
    case listen(Options) of
        {ok, _} ->
            ok;
        {error, Reason} ->
            finish(1, standard_error, ["shootout: cannot listen on ", Host, ":",
                                       integer_to_list(Port), ": ", inet:format_error(Reason)])
    end.

listen(#{host := Host, port := Port, deflate := Deflate} = Options) ->
    Family = case lists:member($:, Host) of true -> inet6; false -> inet end,
    case inet:getaddr(Host, Family) of
        {ok, Address} ->
            start(maps:with([certfile, keyfile], Options), Address, Port, protocol(Deflate));
        Error ->
            Error
    end.

start(Tls, Address, Port, Protocol) when Tls =:= #{} ->
    cowboy:start_clear(?MODULE, transport(Address, Port, []), Protocol);
start(Tls, Address, Port, Protocol) ->
    {ok, _} = application:ensure_all_started(ssl),
    cowboy:start_tls(?MODULE, transport(Address, Port, maps:to_list(Tls)), Protocol).

transport(Address, Port, Tls) ->
    #{max_connections => infinity,
      %% Connections have nothing to finish when the server ends.
      shutdown => brutal_kill,
      socket_opts => [{ip, Address}, {port, Port}, {backlog, 4096}, {nodelay, true},
                      %% Ranch's default cuts off, after 30 s, a client that reads nothing; the
                      %% bound here is the one on queued bytes, in clients.
                      {send_timeout, infinity} | Tls]}.

%% Every path but /raw is the protocol's.
protocol(Deflate) ->
    Routes = [{'_', [{"/raw", raw_echo, Deflate}, {'_', client, Deflate}]}],
    #{env => #{dispatch => cowboy_router:compile(Routes)}}.

versions() ->
    lists:join("\n", [version(Library) || Library <- [cowboy, cowlib, ranch, jsx]] ++
                         ["OTP " ++ erlang:system_info(otp_release)]).

version(Library) ->
    ok = application:load(Library),
    {ok, Version} = application:get_key(Library, vsn),
    [atom_to_list(Library), " ", Version].

finish(Code, Device, Text) ->
    io:put_chars(Device, [Text, "\n"]),
    halt(Code).
