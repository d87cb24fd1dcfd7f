#!/bin/sh
# The load in 3-your-load.toml. Any key of it can be set here as well: --set clients.steps.first=5000
[ $# -gt 0 ] || { echo "$0: give the URL of a server, like ws://127.0.0.1:3334/ws" >&2; exit 2; }
url=$1
shift
# `make` puts the program there, if it is not installed.
PATH=$PATH:$(dirname "$0")/../bin
exec websocket-bench run "$(dirname "$0")/3-your-load.toml" "$url" "$@"
