#include "text_request.h"

#include <stdlib.h>
#include <string.h>

static enum request_type type_of(const json_t *name) {
    const char *text = json_string_value(name);
    // A string with a NUL in it is none of these.
    if (text && strlen(text) == json_string_length(name)) {
        if (strcmp(text, "echo") == 0) return REQUEST_ECHO;
        if (strcmp(text, "broadcast") == 0) return REQUEST_BROADCAST;
    }
    return REQUEST_UNKNOWN;
}

struct text_request parse_text_request(const char *text, size_t len) {
    json_error_t error;
    json_t *message = json_loadb(text, len, JSON_ALLOW_NUL, &error);
    // An integer beyond 64 bits; rounded as a double it may pass.
    if (!message && json_error_code(&error) == json_error_numeric_overflow) {
        message = json_loadb(text, len, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &error);
    }
    if (!json_is_object(message)) {
        json_decref(message);
        return (struct text_request){0};
    }
    return (struct text_request){
        .message = message,
        .payload = json_object_get(message, "payload"),
        .type = type_of(json_object_get(message, "type")),
    };
}

char *format_text(const char *type, const json_t *payload, size_t *len) {
    static const char FORM[] = "{\"type\":\"\",\"payload\":}";
    const size_t flags = JSON_COMPACT | JSON_ENCODE_ANY;
    char *json = json_dumps(payload, flags);
    if (!json) return NULL;
    const size_t room = sizeof FORM + strlen(type) + strlen(json);
    char *text = malloc(room);
    if (text) *len = (size_t)snprintf(text, room, "{\"type\":\"%s\",\"payload\":%s}", type, json);
    free(json);
    return text;
}
