#!/bin/sh
# Compiles src/ into ebin/.
set -eu
cd "$(dirname "$0")"
mkdir -p ebin
erlc -Werror -o ebin src/*.erl
