// cpp-bench: binary broadcasts over libuv, written to check websocket-bench against: it shares no
// code with it. See README.md beside this folder.

#include <netdb.h>
#include <sys/resource.h>
#include <uv.h>

#include <csignal>
#include <cstdio>
#include <cstring>

#include "bench.h"
#include "exit_codes.h"
#include "options.h"

namespace {

void raiseFileLimit() {
    rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

// Prints why and returns false when there is no such host.
bool resolve(const Options &options, Target &target) {
    addrinfo hints = {}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    std::string port = std::to_string(options.port);
    int error = getaddrinfo(options.address.c_str(), port.c_str(), &hints, &found);
    if (error) {
        std::fprintf(stderr, "cpp-bench: --address: %s: %s\n", options.address.c_str(),
                     gai_strerror(error));
        return false;
    }
    std::memcpy(&target.address, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    bool isV6 = options.address.find(':') != std::string::npos;
    target.name = (isV6 ? "[" + options.address + "]" : options.address) + ":" + port;
    target.path = options.path;
    return true;
}

}  // namespace

int main(int argc, char **argv) {
    Options options = parseOptions(argc, argv);
    Target target{};
    if (!resolve(options, target)) return EXIT_USAGE;
    raiseFileLimit();
    std::signal(SIGPIPE, SIG_IGN);

    uv_loop_t *loop = uv_default_loop();
    Bench bench(loop, options, target);
    uv_signal_t interrupts[2];
    const int numbers[] = {SIGINT, SIGTERM};
    for (int i = 0; i < 2; i++) {
        uv_signal_init(loop, &interrupts[i]);
        interrupts[i].data = &bench;
        uv_signal_start(
            &interrupts[i],
            [](uv_signal_t *signal, int) {
                static_cast<Bench *>(signal->data)->finish(EXIT_INTERRUPTED, "interrupted");
            },
            numbers[i]);
    }
    bench.start();
    uv_run(loop, UV_RUN_DEFAULT);
    if (!options.json.empty()) {
        try {
            writeJson(options.json, bench.steps());
        } catch (const std::runtime_error &error) {
            std::fprintf(stderr, "cpp-bench: %s\n", error.what());
            return EXIT_USAGE;
        }
    }
    return bench.exitCode();
}
