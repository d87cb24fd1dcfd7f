#!/bin/sh
# Prints the release of the Crow on the compiler's include path. Its headers do not tell, since
# they call themselves "master" from 1.3.0 on; so a checksum over them does.
set -eu

version=$(g++ -x c++ -M -include crow/version.h /dev/null | tr ' ' '\n' | grep '/crow/version\.h$')
cd "${version%/crow/version.h}"

# version.h is left out: packages put their own number there.
sum=$(find crow crow.h -name '*.h' ! -name version.h | LC_ALL=C sort | xargs cat | sha256sum)
case ${sum%% *} in
  5144a3e207b66d54101f1828d7ea89bbf2d6b20e1e7f648c7a8f84226c50a41c) echo 1.3.3 ;;
  *) echo "release.sh: this Crow's headers are none of a release known here: ${sum%% *}" >&2; exit 1 ;;
esac
