#include "text_request.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST_TOPIC 64

static enum request_type type_of(const json_t *name) {
    const char *text = json_string_value(name);
    // A string with a NUL in it is none of these.
    if (text && strlen(text) == json_string_length(name)) {
        if (strcmp(text, "echo") == 0) return REQUEST_ECHO;
        if (strcmp(text, "broadcast") == 0) return REQUEST_BROADCAST;
        if (strcmp(text, "subscribe") == 0) return REQUEST_SUBSCRIBE;
        if (strcmp(text, "unsubscribe") == 0) return REQUEST_UNSUBSCRIBE;
        if (strcmp(text, "publish") == 0) return REQUEST_PUBLISH;
    }
    return REQUEST_UNKNOWN;
}

static const char *topic_of(const json_t *name) {
    static const char KNOWN[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:";
    const char *text = json_string_value(name);
    const size_t len = text ? json_string_length(name) : 0;
    return len > 0 && len <= LONGEST_TOPIC && strspn(text, KNOWN) == len ? text : NULL;
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
        .topic = topic_of(json_object_get(message, "topic")),
        .type = type_of(json_object_get(message, "type")),
    };
}

char *format_text(const char *type, const char *topic, const json_t *payload, size_t *len) {
    static const char FORM[] = "{\"type\":\"\",\"topic\":\"\",\"payload\":}";
    const size_t flags = JSON_COMPACT | JSON_ENCODE_ANY;
    char *json = payload ? json_dumps(payload, flags) : NULL;
    if (payload && !json) return NULL;
    const size_t room =
        sizeof FORM + strlen(type) + (topic ? strlen(topic) : 0) + (json ? strlen(json) : 0);
    char *text = malloc(room);
    if (text) {
        char *end = text + sprintf(text, "{\"type\":\"%s\"", type);
        if (topic) end += sprintf(end, ",\"topic\":\"%s\"", topic);
        if (json) end += sprintf(end, ",\"payload\":%s", json);
        end += sprintf(end, "}");
        *len = (size_t)(end - text);
    }
    free(json);
    return text;
}
