#!/bin/sh
# A short load by the clock with what is expected of it. Exit code 2: an expectation failed; 3: the result
# is invalid. The files are what a CI keeps and shows.
url=${1:?give the URL of a server, like ws://127.0.0.1:3334/ws}
shift
# Where `make` puts it, for those who have not installed it.
PATH=$PATH:$(dirname "$0")/../bin
exec websocket-bench broadcast "$url" --initial-clients 200 --total-steps 1 \
  --rate 50 --duration 10s --warm-up 2s \
  --expect 'faults<=0' --expect 'drops<=0' --expect 'p99<250ms' \
  --json run.json --csv run.csv --junit junit.xml --html run.html "$@"
