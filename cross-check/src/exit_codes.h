// What the exit codes mean; --help says the same.
#pragma once

constexpr int EXIT_MEASURED = 0;
constexpr int EXIT_USAGE = 1;
constexpr int EXIT_INVALID = 3;
constexpr int EXIT_INTERRUPTED = 130;
