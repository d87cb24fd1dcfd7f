// The server: one uWS::App per event loop, every App on the same port, one thread per loop.

#pragma once

#include "options.h"

// Serves until the process is ended by a signal. Returns only when it cannot listen, after a
// message on stderr.
void serve(const Options &options);
