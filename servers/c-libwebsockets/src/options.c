#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const char HELP[] =
    "c-libwebsockets-server: the websocket-shootout protocol on libwebsockets\n"
    "\n"
    "      --host HOST           address or interface to listen on (default 127.0.0.1)\n"
    "      --port N              TCP port (default 3334)\n"
    "      --raw-echo            send every message back as it came, and nothing else\n"
    "      --version             print the version of the library and exit\n"
    "      --help                print this text and exit\n";

static int parse_port(const char *text) {
    char *end;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (errno || *end || end == text || value < 1 || value > 65535) {
        fprintf(stderr,
                "c-libwebsockets-server: --port: \"%s\" is not a number from 1 to 65535 (see --help)\n",
                text);
        exit(2);
    }
    return (int)value;
}

struct options parse_options(int argc, char **argv, const char *version) {
    enum { HOST = 1000, PORT, RAW_ECHO, VERSION, HELP_TEXT };
    const struct option flags[] = {
        {"host", required_argument, NULL, HOST},
        {"port", required_argument, NULL, PORT},
        {"raw-echo", no_argument, NULL, RAW_ECHO},
        {"version", no_argument, NULL, VERSION},
        {"help", no_argument, NULL, HELP_TEXT},
        {0},
    };

    struct options options = {.host = "127.0.0.1", .port = 3334};
    for (int flag; (flag = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
        switch (flag) {
            case HOST: options.host = optarg; break;
            case PORT: options.port = parse_port(optarg); break;
            case RAW_ECHO: options.raw_echo = true; break;
            case VERSION: puts(version); exit(0);
            case HELP_TEXT: fputs(HELP, stdout); exit(0);
            default: exit(2);
        }
    }
    if (optind != argc) {
        fprintf(stderr, "c-libwebsockets-server: unexpected argument \"%s\" (see --help)\n",
                argv[optind]);
        exit(2);
    }
    return options;
}
