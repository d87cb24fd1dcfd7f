// c-libwebsockets-server: echo and broadcast on libwebsockets, see docs/protocol.md.

#include <jansson.h>
#include <libwebsockets.h>
#include <stdio.h>
#include <sys/resource.h>

#include "options.h"
#include "server.h"

int main(int argc, char **argv) {
    char version[100];
    snprintf(version, sizeof version, "libwebsockets %s, Jansson %s", lws_get_library_version(),
             jansson_version_str());
    const struct options options = parse_options(argc, argv, version);

    // As the Go, Java and Node run-times do on their own: use all the file descriptors allowed.
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }

    serve(&options);
    return 1;
}
