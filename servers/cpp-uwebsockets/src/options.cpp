#include "options.h"

#include <getopt.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

const char HELP[] =
    "cpp-uwebsockets-server: the websocket-shootout protocol on uWebSockets\n"
    "\n"
    "  -p, --port N              TCP port (default 3334)\n"
    "      --host HOST           address to listen on (default 127.0.0.1); also --address\n"
    "      --threads N           event loops, one thread each (default 1)\n"
    "      --data-type json|binary\n"
    "                            accept this dialect alone (default: both, by opcode)\n"
    "      --raw-echo            send every message back as it came, and nothing else\n"
    "      --max-message SIZE    with --raw-echo: largest message, 1M to 1024M (default 16M); twice\n"
    "                            the size, and 64 MiB at least, may wait for a client\n"
    "      --version             print the version of the library and exit\n"
    "      --help                print this text and exit\n";

[[noreturn]] void refuse(const std::string &message) {
    std::fprintf(stderr, "cpp-uwebsockets-server: %s (see --help)\n", message.c_str());
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

unsigned parseMebibytes(const char *flag, std::string_view text) {
    if (text.empty() || text.back() != 'M') {
        refuse(std::string(flag) + ": \"" + std::string(text) + "\" is not a size like 128M");
    }
    return parseNumber(flag, text.substr(0, text.size() - 1), 1, 1024);
}

Dialects parseDialect(std::string_view text) {
    if (text == "json") return Dialects::JsonOnly;
    if (text == "binary") return Dialects::BinaryOnly;
    refuse("--data-type: \"" + std::string(text) + "\" is neither json nor binary");
}

}  // namespace

Options parseOptions(int argc, char **argv, const char *version) {
    enum { HOST = 1000, THREADS, DATA_TYPE, RAW_ECHO, MAX_MESSAGE, VERSION, HELP_TEXT };
    const option flags[] = {
        {"port", required_argument, nullptr, 'p'},
        {"host", required_argument, nullptr, HOST},
        {"address", required_argument, nullptr, HOST},
        {"threads", required_argument, nullptr, THREADS},
        {"data-type", required_argument, nullptr, DATA_TYPE},
        {"raw-echo", no_argument, nullptr, RAW_ECHO},
        {"max-message", required_argument, nullptr, MAX_MESSAGE},
        {"version", no_argument, nullptr, VERSION},
        {"help", no_argument, nullptr, HELP_TEXT},
        {},
    };

    Options options;
    for (int flag; (flag = getopt_long(argc, argv, "p:", flags, nullptr)) != -1;) {
        switch (flag) {
            case 'p': options.port = parseNumber("--port", optarg, 1, 65535); break;
            case HOST: options.address = optarg; break;
            case THREADS: options.threads = parseNumber("--threads", optarg, 1, 1024); break;
            case DATA_TYPE: options.dialects = parseDialect(optarg); break;
            case RAW_ECHO: options.rawEcho = true; break;
            case MAX_MESSAGE:
                options.maxMessageMib = parseMebibytes("--max-message", optarg);
                break;
            case VERSION: std::puts(version); std::exit(0);
            case HELP_TEXT: std::fputs(HELP, stdout); std::exit(0);
            default: std::exit(2);
        }
    }
    if (optind != argc) refuse(std::string("unexpected argument \"") + argv[optind] + "\"");
    // The limit of the protocol is the same for every server, docs/protocol.md.
    if (options.maxMessageMib != Options{}.maxMessageMib && !options.rawEcho) {
        refuse("--max-message: only with --raw-echo");
    }
    return options;
}
