// The few lines of a test framework that these tests need.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

inline void checkAt(bool holds, const char *what, const char *file, int line) {
    if (holds) return;
    std::fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    std::exit(1);
}

#define CHECK(what) checkAt((what), #what, __FILE__, __LINE__)

// Whether `call` throws an `Error` whose text holds `text`.
template <typename Error, typename Call>
bool throws(const char *text, Call call) {
    try {
        call();
    } catch (const Error &error) {
        if (std::string(error.what()).find(text) != std::string::npos) return true;
        std::fprintf(stderr, "threw: %s\n", error.what());
    }
    return false;
}
