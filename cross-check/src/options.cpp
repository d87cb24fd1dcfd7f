#include "options.h"

#include <getopt.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "exit_codes.h"

namespace {

const char HELP[] =
    "cpp-bench: how many clients does a server carry before its broadcasts become too slow?\n"
    "\n"
    "An independent second opinion on websocket-bench, for binary broadcasts only.\n"
    "\n"
    "  -c, --concurrent N        broadcasts under way at any time (default 4)\n"
    "  -s, --sample-size N       broadcasts per step (default 20)\n"
    "  -i, --initial-clients N   clients of the first step (default: the step size)\n"
    "      --step-size N         clients added for each further step (default 5000)\n"
    "      --total-steps N       end after so many steps (default: at the limit)\n"
    "      --payload-padding N   bytes of padding in each payload (default 0)\n"
    "      --limit-percentile P  percentile that the limit applies to (default 95)\n"
    "      --limit-rtt TIME      longest time to the last listener there (default 500ms)\n"
    "      --connect-timeout TIME\n"
    "                            give a client up that is not ready in time (default 10s)\n"
    "      --sample-timeout TIME give a broadcast up that is not complete in time (default 30s)\n"
    "  -a, --address HOST        where the server listens (default 127.0.0.1)\n"
    "  -p, --port N              its TCP port (default 3334)\n"
    "      --path PATH           path to ask for (default /)\n"
    "      --json FILE           also write the figures of each step, in nanoseconds\n"
    "  -h, --help                print this text and exit\n"
    "\n"
    "TIME is a number with us, ms or s. Exit codes:\n"
    "  0    measured: ended by the limit, by --total-steps, or since no more clients could connect\n"
    "  1    wrong usage, or no step could be measured\n"
    "  3    invalid: a message was lost, doubled or changed, or a connection ended\n"
    "  130  interrupted\n";

[[noreturn]] void refuse(const std::string &message) {
    std::fprintf(stderr, "cpp-bench: %s (see --help)\n", message.c_str());
    std::exit(EXIT_USAGE);
}

template <typename Number>
bool parsed(std::string_view text, Number &value) {
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size();
}

int number(const char *flag, std::string_view text, int low, int high) {
    int value = 0;
    if (!parsed(text, value) || value < low || value > high) {
        refuse(std::string(flag) + ": \"" + std::string(text) + "\" is not a number from " +
               std::to_string(low) + " to " + std::to_string(high));
    }
    return value;
}

double percentile(std::string_view text) {
    double value = 0;
    if (!parsed(text, value) || !(value > 0 && value <= 100)) {
        refuse("--limit-percentile: \"" + std::string(text) +
               "\" is not a number above 0 and at most 100");
    }
    return value;
}

uint64_t duration(const char *flag, std::string_view text) {
    constexpr double LONGEST_NS = 86'400e9;
    struct Unit {
        std::string_view name;
        double ns;
    };
    // The longest name first: "ms" and "us" end in "s" as well.
    for (const Unit &unit : {Unit{"ms", 1e6}, Unit{"us", 1e3}, Unit{"s", 1e9}}) {
        double value = 0;
        if (!text.ends_with(unit.name) ||
            !parsed(text.substr(0, text.size() - unit.name.size()), value)) {
            continue;
        }
        if (double ns = value * unit.ns; ns >= 1 && ns <= LONGEST_NS) {
            return static_cast<uint64_t>(ns);
        }
    }
    refuse(std::string(flag) + ": \"" + std::string(text) +
           "\" is not a time above 0 and at most a day, such as 250ms, 900us or 2s");
}

std::string path(std::string_view text) {
    bool printable = true;
    for (char c : text) printable = printable && c > ' ' && c < 0x7f;
    if (text.empty() || text.front() != '/' || !printable) {
        refuse("--path: \"" + std::string(text) +
               "\" is not a path: it begins with / and has no spaces");
    }
    return std::string(text);
}

}  // namespace

Options parseOptions(int argc, char **argv) {
    enum {
        STEP_SIZE = 1000,
        TOTAL_STEPS,
        PADDING,
        LIMIT_PERCENTILE,
        LIMIT_RTT,
        CONNECT_TIMEOUT,
        SAMPLE_TIMEOUT,
        PATH,
        JSON
    };
    const option flags[] = {
        {"concurrent", required_argument, nullptr, 'c'},
        {"sample-size", required_argument, nullptr, 's'},
        {"initial-clients", required_argument, nullptr, 'i'},
        {"step-size", required_argument, nullptr, STEP_SIZE},
        {"total-steps", required_argument, nullptr, TOTAL_STEPS},
        {"payload-padding", required_argument, nullptr, PADDING},
        {"limit-percentile", required_argument, nullptr, LIMIT_PERCENTILE},
        {"limit-rtt", required_argument, nullptr, LIMIT_RTT},
        {"connect-timeout", required_argument, nullptr, CONNECT_TIMEOUT},
        {"sample-timeout", required_argument, nullptr, SAMPLE_TIMEOUT},
        {"address", required_argument, nullptr, 'a'},
        {"port", required_argument, nullptr, 'p'},
        {"path", required_argument, nullptr, PATH},
        {"json", required_argument, nullptr, JSON},
        {"help", no_argument, nullptr, 'h'},
        {},
    };
    constexpr int MOST = 1'000'000'000, MOST_CLIENTS = 1'000'000, MOST_PADDING = 16 << 20;

    Options options;
    // A leading colon makes getopt tell a missing argument from an unknown flag.
    opterr = 0;
    int flag;
    while ((flag = getopt_long(argc, argv, ":c:s:i:a:p:h", flags, nullptr)) != -1) {
        switch (flag) {
            case 'c': options.concurrent = number("--concurrent", optarg, 1, 100'000); break;
            case 's': options.sampleSize = number("--sample-size", optarg, 1, MOST); break;
            case 'i':
                options.initialClients = number("--initial-clients", optarg, 1, MOST_CLIENTS);
                break;
            case STEP_SIZE:
                options.stepSize = number("--step-size", optarg, 1, MOST_CLIENTS);
                break;
            case TOTAL_STEPS: options.totalSteps = number("--total-steps", optarg, 1, MOST); break;
            case PADDING:
                options.payloadPadding = number("--payload-padding", optarg, 0, MOST_PADDING);
                break;
            case LIMIT_PERCENTILE: options.limitPercentile = percentile(optarg); break;
            case LIMIT_RTT: options.limitRttNs = duration("--limit-rtt", optarg); break;
            case CONNECT_TIMEOUT:
                options.connectTimeoutNs = duration("--connect-timeout", optarg);
                break;
            case SAMPLE_TIMEOUT:
                options.sampleTimeoutNs = duration("--sample-timeout", optarg);
                break;
            case 'a': options.address = optarg; break;
            case 'p': options.port = number("--port", optarg, 1, 65535); break;
            case PATH: options.path = path(optarg); break;
            case JSON: options.json = optarg; break;
            case 'h': std::fputs(HELP, stdout); std::exit(EXIT_MEASURED);
            case ':': refuse(std::string(argv[optind - 1]) + " needs a value");
            default: refuse(std::string("unknown argument ") + argv[optind - 1]);
        }
    }
    if (optind < argc) refuse(std::string("unknown argument ") + argv[optind]);
    if (options.initialClients == 0) options.initialClients = options.stepSize;
    return options;
}
