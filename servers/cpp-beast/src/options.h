// The command line of the server.

#pragma once

#include <string>

struct Options {
    std::string host = "127.0.0.1";
    int port = 3334;
    int threads = 1;
    bool deflate = false;
    bool rawEcho = false;
};

// Parses argv. Ends the process for --help and --version (status 0) and, with a message on
// stderr, for anything that it does not understand (status 2).
Options parseOptions(int argc, char **argv, const char *version);
