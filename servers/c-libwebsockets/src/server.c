#include "server.h"

#include <libwebsockets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hub.h"
#include "text_request.h"
#include "topics.h"

#define MAX_MESSAGE (16u * 1024 * 1024)
// What a connection keeps of its buffer between two messages.
#define KEPT_BUFFER (64u * 1024)

struct server {
    const struct options *options;
    struct hub hub;
    struct topics topics;
};

// NULL leaves the member out.
static void reply_text(struct server *server, struct client *to, const char *type,
                       const char *topic, const json_t *payload) {
    size_t len;
    char *text = format_text(type, topic, payload, &len);
    if (!text) abort();
    hub_reply(&server->hub, to, text, len, LWS_WRITE_TEXT);
    free(text);
}

static void reply_error(struct server *server, struct client *to, const char *words) {
    json_t *payload = json_string(words);
    reply_text(server, to, "error", NULL, payload);
    json_decref(payload);
}

static void broadcast_text(struct server *server, struct client *from, const json_t *payload) {
    size_t len;
    char *text = format_text("broadcast", NULL, payload, &len);
    if (!text) abort();
    hub_broadcast(&server->hub, text, len, LWS_WRITE_TEXT);
    free(text);
    reply_text(server, from, "broadcastResult", NULL, payload);
}

static void publish(struct server *server, struct client *from, const char *topic,
                    const json_t *payload) {
    size_t len;
    char *text = format_text("message", topic, payload, &len);
    if (!text) abort();
    struct message *message = hub_share(text, len, LWS_WRITE_TEXT);
    lws_start_foreach_dll(struct lws_dll2 *, item, topics_subscribers(&server->topics, topic)) {
        hub_send(&server->hub, lws_container_of(item, struct subscription, list)->client, message);
    } lws_end_foreach_dll(item);
    hub_release(message);
    free(text);
    reply_text(server, from, "publishResult", topic, payload);
}

static bool needs_payload(enum request_type type) {
    return type != REQUEST_SUBSCRIBE && type != REQUEST_UNSUBSCRIBE;
}

static bool needs_topic(enum request_type type) {
    return !needs_payload(type) || type == REQUEST_PUBLISH;
}

static void on_text(struct server *server, struct client *from, const char *text, size_t len) {
    const struct text_request request = parse_text_request(text, len);
    if (!request.message) {
        reply_error(server, from, "not a JSON object");
    } else if (needs_topic(request.type) && !request.topic) {
        reply_error(server, from, "no topic of such a name");
    } else if (needs_payload(request.type) && !request.payload) {
        reply_error(server, from, "no payload");
    } else if (request.type == REQUEST_ECHO) {
        reply_text(server, from, "echo", NULL, request.payload);
    } else if (request.type == REQUEST_BROADCAST) {
        broadcast_text(server, from, request.payload);
    } else if (request.type == REQUEST_SUBSCRIBE) {
        topics_subscribe(&server->topics, request.topic, from);
        reply_text(server, from, "subscribed", request.topic, NULL);
    } else if (request.type == REQUEST_UNSUBSCRIBE) {
        topics_unsubscribe(&server->topics, request.topic, from);
        reply_text(server, from, "unsubscribed", request.topic, NULL);
    } else if (request.type == REQUEST_PUBLISH) {
        publish(server, from, request.topic, request.payload);
    } else {
        reply_error(server, from, "unknown type");
    }
    json_decref(request.message);
}

static void on_binary(struct server *server, struct client *from, char *message, size_t len) {
    if (len == 0) {
        reply_error(server, from, "empty binary message");
    } else if (message[0] == 'e') {
        hub_reply(&server->hub, from, message, len, LWS_WRITE_BINARY);
    } else if (message[0] == 'b') {
        hub_broadcast(&server->hub, message, len, LWS_WRITE_BINARY);
        message[0] = 'r';
        hub_reply(&server->hub, from, message, len, LWS_WRITE_BINARY);
    } else {
        reply_error(server, from, "unknown type");
    }
}

static void forget_received(struct client *client) {
    free(client->received);
    client->received = NULL;
    client->received_len = client->received_size = 0;
}

// The library hands over a message in pieces of at most its receive buffer.
static void append(struct client *client, const void *piece, size_t len) {
    const size_t needed = client->received_len + len;
    if (needed > client->received_size) {
        const size_t size = needed < 2 * client->received_size ? 2 * client->received_size : needed;
        client->received = realloc(client->received, size);
        if (!client->received) abort();
        client->received_size = size;
    }
    if (len) memcpy(client->received + client->received_len, piece, len);
    client->received_len = needed;
}

static int on_receive(struct server *server, struct client *from, const void *piece, size_t len) {
    if (from->received_len + len + lws_remaining_packet_payload(from->wsi) > MAX_MESSAGE) {
        static unsigned char words[] = "larger than 16 MiB";
        lws_close_reason(from->wsi, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE, words, sizeof words - 1);
        return -1;
    }
    append(from, piece, len);
    if (!lws_is_final_fragment(from->wsi)) return 0;

    const bool is_binary = lws_frame_is_binary(from->wsi);
    if (server->options->raw_echo) {
        hub_reply(&server->hub, from, from->received, from->received_len,
                  is_binary ? LWS_WRITE_BINARY : LWS_WRITE_TEXT);
    } else if (is_binary) {
        on_binary(server, from, from->received, from->received_len);
    } else {
        on_text(server, from, from->received, from->received_len);
    }
    from->received_len = 0;
    if (from->received_size > KEPT_BUFFER) forget_received(from);
    return 0;
}

// The library takes any version (RFC 6455, 4.2.1).
static bool is_version_13(struct lws *wsi) {
    char version[8];
    return lws_hdr_copy(wsi, version, sizeof version, WSI_TOKEN_VERSION) > 0 &&
           strcmp(version, "13") == 0;
}

static int callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t len) {
    struct server *server = lws_context_user(lws_get_context(wsi));
    struct client *client = user;
    switch (reason) {
        case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION: return is_version_13(wsi) ? 0 : -1;
        case LWS_CALLBACK_ESTABLISHED: hub_join(&server->hub, client, wsi); return 0;
        case LWS_CALLBACK_RECEIVE: return on_receive(server, client, in, len);
        case LWS_CALLBACK_SERVER_WRITEABLE: return hub_write(&server->hub, client) ? 0 : -1;
        case LWS_CALLBACK_CLOSED:
            hub_leave(&server->hub, client);
            topics_leave(client);
            forget_received(client);
            return 0;
        default: return lws_callback_http_dummy(wsi, reason, user, in, len);
    }
}

void serve(const struct options *options) {
    static const struct lws_protocols protocols[] = {
        {.name = "shootout", .callback = callback, .per_session_data_size = sizeof(struct client)},
        {0},
    };
    // The library's own policy pings clients that are idle for five minutes.
    static const lws_retry_bo_t no_pings = {0};

    struct server server = {.options = options};
    struct lws_context_creation_info info = {
        .iface = options->host,
        .port = options->port,
        .protocols = protocols,
        .options = LWS_SERVER_OPTION_VALIDATE_UTF8 | LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND,
        .retry_and_idle_policy = &no_pings,
        .user = &server,
        .gid = -1,
        .uid = -1,
    };
    lws_set_log_level(0, NULL);
    struct lws_context *context = hub_init(&server.hub) ? lws_create_context(&info) : NULL;
    if (!context) {
        fprintf(stderr, "c-libwebsockets-server: cannot listen on %s port %d\n", options->host,
                options->port);
        return;
    }
    while (lws_service(context, 0) >= 0) {
    }
}
