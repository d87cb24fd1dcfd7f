// Who is subscribed to what. Knows names and clients, and nothing of what is sent.

#pragma once

#include <libwebsockets.h>

#include "hub.h"

// Zeroed memory is one without topics.
struct topics {
    void *tree;
};

struct subscription {
    lws_dll2_t list;  // of the topic's subscribers
    struct topic *topic;
    struct client *client;
};

// Changes nothing where the client is subscribed already.
void topics_subscribe(struct topics *topics, const char *name, struct client *client);
void topics_unsubscribe(struct topics *topics, const char *name, struct client *client);

// Ends all subscriptions of a client.
void topics_leave(struct client *client);

// The first of the topic's subscriptions, or NULL.
struct lws_dll2 *topics_subscribers(struct topics *topics, const char *name);
