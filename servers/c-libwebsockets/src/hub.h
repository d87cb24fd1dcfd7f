// The clients, the ring of broadcasts that all of them read, and the answers to each.
// Knows payloads, and nothing of what is in them.

#pragma once

#include <libwebsockets.h>
#include <stdbool.h>
#include <stdint.h>

struct message;
struct reply;

// Zeroed memory is one that has not joined.
struct client {
    lws_dll2_t list;
    struct lws *wsi;
    uint32_t tail;       // its place in the ring
    uint64_t count;      // broadcasts behind that place
    uint64_t bytes;      // and their bytes
    struct reply *first, **last;
    size_t reply_bytes;
    void *subscriptions;  // see topics.h
    // The message that is being received.
    char *received;
    size_t received_len, received_size;
};

struct hub {
    struct lws_ring *ring;
    lws_dll2_owner_t clients;
    uint64_t count;  // broadcasts ever put into the ring
    uint64_t bytes;
};

bool hub_init(struct hub *hub);

void hub_join(struct hub *hub, struct client *client, struct lws *wsi);
void hub_leave(struct hub *hub, struct client *client);

// Both copy the payload and return when it is queued. A client for which more than 64 MiB would
// wait is cut off.
void hub_broadcast(struct hub *hub, const char *payload, size_t len, enum lws_write_protocol kind);
void hub_reply(struct hub *hub, struct client *client, const char *payload, size_t len,
               enum lws_write_protocol kind);

// A message that several clients are to get, in place of a copy for each. The caller gives it back
// with hub_release; it lasts until all have taken it.
struct message *hub_share(const char *payload, size_t len, enum lws_write_protocol kind);
void hub_release(struct message *message);
void hub_send(struct hub *hub, struct client *client, struct message *message);

// Writes the next message to a client that can be written to. False when the connection is lost.
bool hub_write(struct hub *hub, struct client *client);
