#!/bin/sh
# Ten clients, one message at a time: the latencies of an otherwise idle server, and whether each answer
# is the right one.
[ $# -gt 0 ] || { echo "$0: give the URL of a server, like ws://127.0.0.1:3334/ws" >&2; exit 2; }
url=$1
shift
# `make` puts the program there, if it is not installed.
PATH=$PATH:$(dirname "$0")/../bin
exec websocket-bench echo "$url" --initial-clients 10 --total-steps 1 --concurrent 1 \
  --sample-size 500 --verbose "$@"
