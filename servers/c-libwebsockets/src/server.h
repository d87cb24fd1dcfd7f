// The server: one libwebsockets context, whose one thread serves every connection.

#pragma once

#include "options.h"

// Serves until the process is ended by a signal. Returns only when it cannot listen, after a
// message on stderr.
void serve(const struct options *options);
