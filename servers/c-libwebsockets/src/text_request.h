// The text dialect: one JSON object per message, {"type": ..., "payload": ...}.
// Parses and formats; sends nothing.

#pragma once

#include <jansson.h>

enum request_type { REQUEST_UNKNOWN, REQUEST_ECHO, REQUEST_BROADCAST };

struct text_request {
    json_t *message;  // NULL when it is not one well-formed JSON object; to be given back
    json_t *payload;  // borrowed from the message, NULL when it has none
    enum request_type type;
};

struct text_request parse_text_request(const char *text, size_t len);

// The message {"type": type, "payload": payload}, in memory that the caller frees.
char *format_text(const char *type, const json_t *payload, size_t *len);
