// The text dialect: one JSON object per message, {"type": ..., "topic": ..., "payload": ...}.
// Parses and formats; sends nothing.

#pragma once

#include <jansson.h>

enum request_type {
    REQUEST_UNKNOWN,
    REQUEST_ECHO,
    REQUEST_BROADCAST,
    REQUEST_SUBSCRIBE,
    REQUEST_UNSUBSCRIBE,
    REQUEST_PUBLISH,
};

struct text_request {
    json_t *message;  // NULL when it is not one well-formed JSON object; to be given back
    json_t *payload;  // borrowed from the message, NULL when it has none
    const char *topic;  // the same, NULL unless it is a name of a topic
    enum request_type type;
};

struct text_request parse_text_request(const char *text, size_t len);

// The message with those of the members that are not NULL, in memory that the caller frees.
char *format_text(const char *type, const char *topic, const json_t *payload, size_t *len);
