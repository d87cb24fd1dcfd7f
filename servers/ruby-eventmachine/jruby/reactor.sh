#!/bin/sh
# Makes build/lib: EventMachine and em-websocket for JRuby. The Ruby files are
# those of the installed Debian packages; the Java reactor is in no package, so
# it is compiled from the Debian source package of the installed version, which
# apt fetches and checks from the mirror that this machine is configured for.
set -eu
umask 022
test -n "${JAVA_HOME-}" && PATH="$JAVA_HOME/bin:$PATH"

cd "$(dirname "$0")/.."
build=$PWD/build
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache" "$work/classes"

# Nothing of the machine's own apt configuration is changed: sources, lists and
# cache are private.
private_apt() {
    apt-get -qq \
        -o Dir::Etc::SourceList="$work/sources.list" \
        -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$work/lists" \
        -o Dir::Cache="$work/cache" \
        -o APT::Sandbox::User="$(id -un)" \
        "$@"
}

apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' 'Origin: Debian' | sort -u > "$work/sources.list"
if [ ! -s "$work/sources.list" ]; then
    echo "reactor.sh: apt knows no Debian mirror; run apt-get update first" >&2
    exit 1
fi

version=$(dpkg-query --show --showformat '${source:Version}' ruby-eventmachine)
private_apt update
cd "$work"
private_apt source --download-only "ruby-eventmachine=$version"
tar -xJf ruby-eventmachine_*.orig.tar.xz
javac -nowarn -Xlint:none -d classes eventmachine-*/java/src/com/rubyeventmachine/*.java

vendor=$(ruby -rrbconfig -e 'puts RbConfig::CONFIG["vendordir"]')
rm -rf "$build/lib"
mkdir -p "$build/lib"
jar --create --file "$build/lib/rubyeventmachine.jar" -C classes .
cp -R "$vendor/eventmachine.rb" "$vendor/jeventmachine.rb" "$vendor/em" \
    "$vendor/em-websocket.rb" "$vendor/em-websocket" "$build/lib"
