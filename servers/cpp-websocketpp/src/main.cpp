// cpp-websocketpp-server: echo and broadcast on WebSocket++, see docs/protocol.md.

#include <json/version.h>
#include <sys/resource.h>
#include <websocketpp/version.hpp>

#include <string>

#include "options.h"
#include "server.h"

int main(int argc, char **argv) {
    const std::string version = "WebSocket++ " + std::to_string(websocketpp::major_version) + "." +
                                std::to_string(websocketpp::minor_version) + "." +
                                std::to_string(websocketpp::patch_version) + ", JsonCpp " +
                                JSONCPP_VERSION_STRING;
    Options options = parseOptions(argc, argv, version.c_str());

    // As the Go, Java and Node run-times do on their own: use all the file descriptors allowed.
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }

    serve(options);
    return 1;
}
