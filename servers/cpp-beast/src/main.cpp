// cpp-beast-server: echo and broadcast on Boost.Beast, see docs/protocol.md.

#include <rapidjson/rapidjson.h>
#include <sys/resource.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/beast/version.hpp>
#include <boost/system/system_error.hpp>
#include <boost/version.hpp>

#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "listener.h"
#include "options.h"

namespace {

// As "1.81.0", out of 108100.
std::string boostVersion() {
    return std::to_string(BOOST_VERSION / 100000) + "." + std::to_string(BOOST_VERSION / 100 % 1000) +
           "." + std::to_string(BOOST_VERSION % 100);
}

}  // namespace

int main(int argc, char **argv) {
    const std::string version = "Boost.Beast " + boostVersion() + " (" BOOST_BEAST_VERSION_STRING
                                "), RapidJSON " RAPIDJSON_VERSION_STRING;
    const Options options = parseOptions(argc, argv, version.c_str());

    // As the Go, Java and Node run-times do on their own: use all the file descriptors allowed.
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }

    boost::asio::io_context loop(options.threads);
    boost::asio::signal_set signals(loop, SIGINT, SIGTERM);
    signals.async_wait([&loop](auto, int) { loop.stop(); });

    std::optional<Listener> listener;
    try {
        listener.emplace(loop, options);
    } catch (const boost::system::system_error &error) {
        std::fprintf(stderr, "cpp-beast-server: cannot listen on %s port %d: %s\n",
                     options.host.c_str(), options.port, error.code().message().c_str());
        return 1;
    }
    listener->accept();

    std::vector<std::thread> others;
    for (int i = 1; i < options.threads; i++) others.emplace_back([&loop] { loop.run(); });
    loop.run();
    for (std::thread &other : others) other.join();
    return 0;
}
