#!/bin/sh
# A short load at a fixed rate, with expectations. Exit code 2: an expectation failed; 3: the result is
# invalid. The files are for the CI to keep and show.
[ $# -gt 0 ] || { echo "$0: give the URL of a server, like ws://127.0.0.1:3334/ws" >&2; exit 2; }
url=$1
shift
# `make` puts the program there, if it is not installed.
PATH=$PATH:$(dirname "$0")/../bin
exec websocket-bench broadcast "$url" --initial-clients 200 --total-steps 1 \
  --rate 50 --duration 10s --warm-up 2s \
  --expect 'faults<=0' --expect 'drops<=0' --expect 'p99<250ms' \
  --json run.json --csv run.csv --junit junit.xml --html run.html "$@"
