#include "figures.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace {

std::string latency(uint64_t ns) {
    char text[32];
    auto value = static_cast<double>(ns);
    if (ns < 999'500) {
        std::snprintf(text, sizeof text, "%.0fus", value / 1e3);
    } else if (ns < 9'950'000) {
        std::snprintf(text, sizeof text, "%.1fms", value / 1e6);
    } else {
        std::snprintf(text, sizeof text, "%.0fms", value / 1e6);
    }
    return text;
}

std::string plain(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    return text;
}

}  // namespace

uint64_t percentile(const std::vector<uint64_t> &sorted, double percent) {
    // A little less, since 99.9 percent of 1,000 come out a little above 999.
    double rank = std::ceil(percent / 100 * static_cast<double>(sorted.size()) - 1e-9);
    auto index = static_cast<size_t>(std::max(rank, 1.0)) - 1;
    return sorted[std::min(index, sorted.size() - 1)];
}

Figures figuresOf(size_t clients, std::vector<uint64_t> completions, double percent,
                  uint64_t limitNs) {
    std::sort(completions.begin(), completions.end());
    uint64_t limited = percentile(completions, percent);
    return {clients,
            completions.size(),
            percent,
            limited,
            completions.front(),
            percentile(completions, 50),
            percentile(completions, 95),
            completions.back(),
            limited > limitNs};
}

std::string line(const Figures &figures) {
    char clients[32];
    std::snprintf(clients, sizeof clients, "clients: %5zu", figures.clients);
    return std::string(clients) + "    " + plain(figures.percentile) +
           "per-rtt: " + latency(figures.limitedNs) + "    min-rtt: " + latency(figures.minNs) +
           "    median-rtt: " + latency(figures.medianNs) +
           "    max-rtt: " + latency(figures.maxNs) +
           (figures.overLimit ? "    over the limit" : "");
}

void writeJson(const std::string &file, const std::vector<Figures> &steps) {
    std::ofstream out(file);
    out << "{\"tool\":\"cpp-bench\",\"steps\":[";
    for (size_t i = 0; i < steps.size(); i++) {
        const Figures &step = steps[i];
        out << (i ? "," : "") << "{\"clients\":" << step.clients
            << ",\"samples\":" << step.samples << ",\"limit_percentile\":" << step.percentile
            << ",\"limited_ns\":" << step.limitedNs << ",\"min_ns\":" << step.minNs
            << ",\"p50_ns\":" << step.medianNs << ",\"p95_ns\":" << step.p95Ns
            << ",\"max_ns\":" << step.maxNs
            << ",\"over_limit\":" << (step.overLimit ? "true" : "false") << "}";
    }
    out << "]}\n";
    out.close();
    if (!out) throw std::runtime_error("cannot write the figures to " + file);
}
