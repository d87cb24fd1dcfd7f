#!/bin/sh
# Broadcasts to everyone: searches for the most clients that all get a message within 100 ms, 95 times in
# 100.
[ $# -gt 0 ] || { echo "$0: give the URL of a server, like ws://127.0.0.1:3334/ws" >&2; exit 2; }
url=$1
shift
# `make` puts the program there, if it is not installed.
PATH=$PATH:$(dirname "$0")/../bin
exec websocket-bench broadcast "$url" --initial-clients 100 --search --search-precision 10 \
  --limit-rtt 100ms --sample-size 100 "$@"
