#!/bin/sh
# Ten clients, one message at a time: the latencies of a server that has nothing else to do, and whether
# each answer is the one that was due.
url=${1:?give the URL of a server, like ws://127.0.0.1:3334/ws}
shift
# Where `make` puts it, for those who have not installed it.
PATH=$PATH:$(dirname "$0")/../bin
exec websocket-bench echo "$url" --initial-clients 10 --total-steps 1 --concurrent 1 \
  --sample-size 500 --verbose "$@"
