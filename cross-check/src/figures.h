// What a step came to, as people read it and as a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct Figures {
    size_t clients, samples;
    double percentile;
    // Nanoseconds from the send to the last listener.
    uint64_t limitedNs, minNs, medianNs, p95Ns, maxNs;
    bool overLimit;
};

// The smallest sample that `percent` percent of all do not exceed; `sorted` is not empty.
uint64_t percentile(const std::vector<uint64_t> &sorted, double percent);

// `completions` is not empty.
Figures figuresOf(size_t clients, std::vector<uint64_t> completions, double percent,
                  uint64_t limitNs);

// The line of 2016; below 10 ms with a decimal, below 1 ms in microseconds.
std::string line(const Figures &figures);

// Throws std::runtime_error when the file cannot be written.
void writeJson(const std::string &file, const std::vector<Figures> &steps);
