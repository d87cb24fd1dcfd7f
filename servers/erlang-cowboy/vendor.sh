#!/bin/sh
# Puts Cowboy, its two libraries and jsx into vendor/, as Debian 12 compiled them
# for its package rabbitmq-server. Debian has no package of their own. Nothing is
# installed: the package is downloaded (apt-get checks it against Debian's signed
# index) and only these four are taken out of it.
set -eu
cd "$(dirname "$0")"

libraries="cowboy-2.8.0 cowlib-2.9.1 jsx-3.1.0 ranch-2.1.0"

complete() {
  for library in $libraries; do
    [ -f "$1/$library/ebin/${library%-*}.app" ] || return 1
  done
}

if complete vendor; then exit 0; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# apt-get reads as the user _apt where it is run by root.
chmod 755 "$work"

if ! (cd "$work" && apt-get download rabbitmq-server >log 2>&1); then
  cat "$work/log" >&2
  echo "vendor.sh: cannot download Debian's rabbitmq-server; run 'apt-get update' as root and try again" >&2
  exit 1
fi

mkdir "$work/vendor"
dpkg-deb --fsys-tarfile "$work"/rabbitmq-server_*.deb |
  tar -x -C "$work/vendor" --wildcards --no-anchored --transform 's,^.*/plugins/,,' \
    'plugins/cowboy-*' 'plugins/cowlib-*' 'plugins/jsx-*' 'plugins/ranch-*'

if ! complete "$work/vendor"; then
  echo "vendor.sh: $(basename "$work"/rabbitmq-server_*.deb) holds $(ls "$work/vendor" | xargs)," \
    "not $libraries; use Debian 12's package, or put these releases into $PWD/vendor" >&2
  exit 1
fi

rm -rf vendor
mv "$work/vendor" vendor
