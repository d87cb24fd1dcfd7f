// The command line of cpp-bench. Parses and refuses; opens nothing.
#pragma once

#include <cstdint>
#include <string>

struct Options {
    std::string address = "127.0.0.1";
    std::string path = "/";
    std::string json;  // empty: no file of figures
    int port = 3334;
    int concurrent = 4;
    int sampleSize = 20;
    int initialClients = 0;  // 0: as many as stepSize
    int stepSize = 5000;
    int totalSteps = 0;  // 0: until the limit
    int payloadPadding = 0;
    double limitPercentile = 95;
    uint64_t limitRttNs = 500'000'000;
    uint64_t connectTimeoutNs = 10'000'000'000;
    uint64_t sampleTimeoutNs = 30'000'000'000;
};

// Prints the help and ends with 0, or one line about what is wrong and ends with 1.
Options parseOptions(int argc, char **argv);
