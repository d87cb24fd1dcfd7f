// cpp-crow-server: echo and broadcast on Crow, see docs/protocol.md.

#include <rapidjson/rapidjson.h>
#include <sys/resource.h>

#include "options.h"
#include "server.h"

int main(int argc, char **argv) {
    const char version[] = "Crow " CROW_RELEASE ", RapidJSON " RAPIDJSON_VERSION_STRING;
    Options options = parseOptions(argc, argv, version);

    // As the Go, Java and Node run-times do on their own: use all the file descriptors allowed.
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }

    return serve(options);
}
