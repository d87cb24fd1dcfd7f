// The server: one Crow application, whose event loops share the connections among themselves.

#pragma once

#include "options.h"

// Serves until SIGTERM or SIGINT. Returns the exit status: 0 after a signal, 1 after a message on
// stderr when it cannot listen.
int serve(const Options &options);
