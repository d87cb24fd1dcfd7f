#!/bin/sh
# One message to everyone, again and again: searches for the largest number of clients of which all have it
# within 100 ms, 95 times in 100.
url=${1:?give the URL of a server, like ws://127.0.0.1:3334/ws}
shift
# Where `make` puts it, for those who have not installed it.
PATH=$PATH:$(dirname "$0")/../bin
exec websocket-bench broadcast "$url" --initial-clients 100 --search --search-precision 10 \
  --limit-rtt 100ms --sample-size 100 "$@"
