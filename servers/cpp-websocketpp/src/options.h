// The command line of the server.

#pragma once

#include <string>

enum class Dialects { Both, JsonOnly, BinaryOnly };

struct Options {
    std::string address = "127.0.0.1";
    int port = 3334;
    int threads = 1;
    Dialects dialects = Dialects::Both;
    bool rawEcho = false;
    unsigned maxMessageMib = 16;
};

// Parses argv. Ends the process for --help and --version (status 0) and, with a message on
// stderr, for anything that it does not understand (status 2).
Options parseOptions(int argc, char **argv, const char *version);
