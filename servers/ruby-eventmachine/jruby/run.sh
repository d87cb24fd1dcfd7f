#!/bin/sh
# server.rb on JRuby, with the libraries that reactor.sh has put together.
dir=$(dirname "$0")/..
exec "$dir/build/jruby-9.4.15.0/bin/jruby" -J-XX:+UseG1GC -J-Xms256m -J-Xmx2g \
    -I "$dir/build/lib" -I "$dir/jruby" "$dir/server.rb" "$@"
