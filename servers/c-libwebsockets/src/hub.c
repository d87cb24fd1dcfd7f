#include "hub.h"

#include <stdlib.h>
#include <string.h>

#define MAX_QUEUED (64u * 1024 * 1024)
#define RING_SIZE (256u * 1024)

// lws_write puts the frame's header into the LWS_PRE bytes before the payload.
struct message {
    uint64_t bytes_behind;  // of this broadcast and all before it
    unsigned waiting;       // clients that have not taken it, and the one who shares it
    enum lws_write_protocol kind;
    size_t len;
    unsigned char buffer[];
};

struct reply {
    struct reply *next;
    uint64_t after;  // broadcasts that come before it
    struct message *message;
};

static struct message *copy(const char *payload, size_t len, enum lws_write_protocol kind) {
    struct message *message = malloc(sizeof *message + LWS_PRE + len);
    if (!message) abort();
    *message = (struct message){.kind = kind, .len = len};
    memcpy(message->buffer + LWS_PRE, payload, len);
    return message;
}

static void destroy_element(void *element) {
    free(*(struct message **)element);
}

static struct message *at(struct hub *hub, uint32_t *tail) {
    struct message *const *element = lws_ring_get_element(hub->ring, tail);
    return element ? *element : NULL;
}

bool hub_init(struct hub *hub) {
    hub->ring = lws_ring_create(sizeof(struct message *), RING_SIZE, destroy_element);
    return hub->ring;
}

void hub_join(struct hub *hub, struct client *client, struct lws *wsi) {
    client->wsi = wsi;
    client->last = &client->first;
    client->count = hub->count;
    client->bytes = hub->bytes;
    client->tail = lws_ring_get_oldest_tail(hub->ring);
    lws_ring_consume(hub->ring, &client->tail, NULL,
                     lws_ring_get_count_waiting_elements(hub->ring, &client->tail));
    lws_dll2_add_tail(&client->list, &hub->clients);
}

// Gives back what every client has taken. The ring's own macro for it looks at every client for
// each message that the last client takes, which is every client's turn of a broadcast.
static void collect(struct hub *hub) {
    uint32_t oldest = lws_ring_get_oldest_tail(hub->ring);
    const uint32_t before = oldest;
    for (struct message *message; (message = at(hub, &oldest)) && message->waiting == 0;) {
        lws_ring_consume(hub->ring, &oldest, NULL, 1);
    }
    if (oldest != before) lws_ring_update_oldest_tail(hub->ring, oldest);
}

static void take(struct hub *hub, struct client *client, struct message *message) {
    client->count++;
    client->bytes = message->bytes_behind;
    lws_ring_consume(hub->ring, &client->tail, NULL, 1);
    if (--message->waiting == 0) collect(hub);
}

static void take_reply(struct client *client) {
    struct reply *reply = client->first;
    client->first = reply->next;
    if (!client->first) client->last = &client->first;
    client->reply_bytes -= reply->message->len;
    hub_release(reply->message);
    free(reply);
}

void hub_leave(struct hub *hub, struct client *client) {
    if (lws_dll2_is_detached(&client->list)) return;
    lws_dll2_remove(&client->list);
    for (struct message *message; (message = at(hub, &client->tail));) take(hub, client, message);
    while (client->first) take_reply(client);
}

// The close is put off, since it may be this client's own callback that is under way.
static void cut_off(struct hub *hub, struct client *client) {
    hub_leave(hub, client);
    lws_set_timeout(client->wsi, PENDING_TIMEOUT_LAGGING, LWS_TO_KILL_ASYNC);
}

static bool has_room(const struct hub *hub, const struct client *client, size_t len) {
    const uint64_t waiting = hub->bytes - client->bytes + client->reply_bytes;
    return waiting == 0 || waiting + len <= MAX_QUEUED;
}

// Clients that the message does not fit for are cut off; so are those furthest behind in a full
// ring.
static void make_room(struct hub *hub, size_t len) {
    const bool full = lws_ring_get_count_free_elements(hub->ring) == 0;
    const uint64_t behind_all = hub->count - lws_ring_get_count_waiting_elements(hub->ring, NULL);
    lws_start_foreach_dll_safe(struct lws_dll2 *, item, next, hub->clients.head) {
        struct client *client = lws_container_of(item, struct client, list);
        if (!has_room(hub, client, len) || (full && client->count == behind_all)) {
            cut_off(hub, client);
        }
    } lws_end_foreach_dll_safe(item, next);
}

void hub_broadcast(struct hub *hub, const char *payload, size_t len, enum lws_write_protocol kind) {
    make_room(hub, len);
    if (hub->clients.count == 0) return;
    struct message *message = copy(payload, len, kind);
    hub->count++;
    hub->bytes += len;
    message->bytes_behind = hub->bytes;
    message->waiting = hub->clients.count;
    lws_ring_insert(hub->ring, &message, 1);
    lws_start_foreach_dll(struct lws_dll2 *, item, hub->clients.head) {
        lws_callback_on_writable(lws_container_of(item, struct client, list)->wsi);
    } lws_end_foreach_dll(item);
}

struct message *hub_share(const char *payload, size_t len, enum lws_write_protocol kind) {
    struct message *message = copy(payload, len, kind);
    message->waiting = 1;
    return message;
}

void hub_release(struct message *message) {
    if (--message->waiting == 0) free(message);
}

void hub_send(struct hub *hub, struct client *client, struct message *message) {
    if (lws_dll2_is_detached(&client->list)) return;
    if (!has_room(hub, client, message->len)) return cut_off(hub, client);
    struct reply *reply = malloc(sizeof *reply);
    if (!reply) abort();
    *reply = (struct reply){.after = hub->count, .message = message};
    message->waiting++;
    *client->last = reply;
    client->last = &reply->next;
    client->reply_bytes += message->len;
    lws_callback_on_writable(client->wsi);
}

void hub_reply(struct hub *hub, struct client *client, const char *payload, size_t len,
               enum lws_write_protocol kind) {
    struct message *message = hub_share(payload, len, kind);
    hub_send(hub, client, message);
    hub_release(message);
}

static bool write_message(struct lws *wsi, struct message *message) {
    return lws_write(wsi, message->buffer + LWS_PRE, message->len, message->kind) >=
           (int)message->len;
}

bool hub_write(struct hub *hub, struct client *client) {
    if (lws_dll2_is_detached(&client->list)) return true;
    bool written = true;
    if (client->first && client->first->after <= client->count) {
        written = write_message(client->wsi, client->first->message);
        take_reply(client);
    } else {
        struct message *message = at(hub, &client->tail);
        if (!message) return true;
        written = write_message(client->wsi, message);
        take(hub, client, message);
    }
    if (client->first || at(hub, &client->tail)) lws_callback_on_writable(client->wsi);
    return written;
}
