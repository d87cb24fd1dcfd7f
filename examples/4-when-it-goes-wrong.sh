#!/bin/sh
# Half of the clients lose their connection at one moment and come back with back-off and jitter: how
# long until all are back, and the others' latencies before, during and after.
[ $# -gt 0 ] || { echo "$0: give the URL of a server, like ws://127.0.0.1:3334/ws" >&2; exit 2; }
url=$1
shift
# `make` puts the program there, if it is not installed.
PATH=$PATH:$(dirname "$0")/../bin
exec websocket-bench run "$(dirname "$0")/../workloads/reconnect-storm.toml" "$url" "$@"
