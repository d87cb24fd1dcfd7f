#include "options.h"

#include <getopt.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

const char HELP[] =
    "cpp-beast-server: the websocket-shootout protocol on Boost.Beast\n"
    "\n"
    "      --host HOST           address to listen on (default 127.0.0.1)\n"
    "      --port N              TCP port (default 3334)\n"
    "      --threads N           threads that run the io_context (default 1)\n"
    "      --deflate             compress for clients that offer it\n"
    "      --raw-echo            send every message back as it came, and nothing else\n"
    "      --version             print the version of the library and exit\n"
    "      --help                print this text and exit\n";

[[noreturn]] void refuse(const std::string &message) {
    std::fprintf(stderr, "cpp-beast-server: %s (see --help)\n", message.c_str());
    std::exit(2);
}

int parseNumber(const char *flag, std::string_view text, int low, int high) {
    int value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) {
        refuse(std::string(flag) + ": \"" + std::string(text) + "\" is not a number from " +
               std::to_string(low) + " to " + std::to_string(high));
    }
    return value;
}

}  // namespace

Options parseOptions(int argc, char **argv, const char *version) {
    enum { HOST = 1000, PORT, THREADS, DEFLATE, RAW_ECHO, VERSION, HELP_TEXT };
    const option flags[] = {
        {"host", required_argument, nullptr, HOST},
        {"port", required_argument, nullptr, PORT},
        {"threads", required_argument, nullptr, THREADS},
        {"deflate", no_argument, nullptr, DEFLATE},
        {"raw-echo", no_argument, nullptr, RAW_ECHO},
        {"version", no_argument, nullptr, VERSION},
        {"help", no_argument, nullptr, HELP_TEXT},
        {},
    };

    Options options;
    for (int flag; (flag = getopt_long(argc, argv, "", flags, nullptr)) != -1;) {
        switch (flag) {
            case HOST: options.host = optarg; break;
            case PORT: options.port = parseNumber("--port", optarg, 1, 65535); break;
            case THREADS: options.threads = parseNumber("--threads", optarg, 1, 1024); break;
            case DEFLATE: options.deflate = true; break;
            case RAW_ECHO: options.rawEcho = true; break;
            case VERSION: std::puts(version); std::exit(0);
            case HELP_TEXT: std::fputs(HELP, stdout); std::exit(0);
            default: std::exit(2);
        }
    }
    if (optind != argc) refuse(std::string("unexpected argument \"") + argv[optind] + "\"");
    return options;
}
