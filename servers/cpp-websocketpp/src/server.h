// The server: one WebSocket++ endpoint, whose event loop is run by all the threads.

#pragma once

#include "options.h"

// Serves until the process is ended by a signal. Returns only when it cannot listen, after a
// message on stderr.
void serve(const Options &options);
