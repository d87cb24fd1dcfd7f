// Percentiles, and the line of the seeds.

#include "figures.h"

#include "check.h"

int main() {
    std::vector<uint64_t> hundred;
    for (uint64_t i = 1; i <= 100; i++) hundred.push_back(i * 1'000'000);
    CHECK(percentile(hundred, 95) == 95'000'000 && percentile(hundred, 50) == 50'000'000);
    CHECK(percentile(hundred, 100) == 100'000'000 && percentile(hundred, 0.5) == 1'000'000);
    std::vector<uint64_t> thousand(1000, 1);
    thousand.back() = 2;
    CHECK(percentile(thousand, 99.9) == 1 && percentile(thousand, 99.95) == 2);
    std::vector<uint64_t> twenty(hundred.begin(), hundred.begin() + 20);
    CHECK(percentile(twenty, 95) == 19'000'000);

    Figures figures{10'000,      100,         95,          258'000'000, 35'000'000,
                    144'000'000, 258'000'000, 488'000'000, false};
    CHECK(line(figures) ==
          "clients: 10000    95per-rtt: 258ms    min-rtt: 35ms    median-rtt: 144ms    "
          "max-rtt: 488ms");

    std::vector<uint64_t> backwards(hundred.rbegin(), hundred.rend());
    Figures made = figuresOf(7, backwards, 95, 94'999'999);
    CHECK(made.overLimit && made.limitedNs == 95'000'000 && made.minNs == 1'000'000);
    CHECK(made.maxNs == 100'000'000 && made.samples == 100);
    CHECK(!figuresOf(7, backwards, 95, 95'000'000).overLimit);
    CHECK(line(figuresOf(7, {421'000, 2'340'000}, 99.9, 1)) ==
          "clients:     7    99.9per-rtt: 2.3ms    min-rtt: 421us    median-rtt: 421us    "
          "max-rtt: 2.3ms    over the limit");
    std::puts("figures: ok");
}
