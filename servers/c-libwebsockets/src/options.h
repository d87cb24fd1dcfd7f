// The command line of the server.

#pragma once

#include <stdbool.h>

struct options {
    const char *host;
    int port;
    bool raw_echo;
};

// Parses argv. Ends the process for --help and --version (status 0) and, with a message on
// stderr, for anything that it does not understand (status 2).
struct options parse_options(int argc, char **argv, const char *version);
