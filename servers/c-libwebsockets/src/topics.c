#define _GNU_SOURCE  // tdestroy

#include "topics.h"

#include <search.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct topic {
    struct topics *all;
    lws_dll2_owner_t subscribers;
    char name[];
};

// The tree of topics holds their names, that of a client its subscriptions.
static int by_name(const void *a, const void *b) {
    return strcmp(a, b);
}

static int by_topic(const void *a, const void *b) {
    const uintptr_t left = (uintptr_t)((const struct subscription *)a)->topic;
    const uintptr_t right = (uintptr_t)((const struct subscription *)b)->topic;
    return (left > right) - (left < right);
}

static struct topic *find(struct topics *topics, const char *name) {
    char *const *found = tfind(name, &topics->tree, by_name);
    return found ? lws_container_of(*found, struct topic, name) : NULL;
}

static struct topic *make(struct topics *topics, const char *name) {
    struct topic *topic = calloc(1, sizeof *topic + strlen(name) + 1);
    if (!topic) abort();
    topic->all = topics;
    strcpy(topic->name, name);
    if (!tsearch(topic->name, &topics->tree, by_name)) abort();
    return topic;
}

// A topic goes with the last of its subscriptions.
static void end(void *ended) {
    struct subscription *subscription = ended;
    struct topic *topic = subscription->topic;
    lws_dll2_remove(&subscription->list);
    free(subscription);
    if (topic->subscribers.count == 0) {
        tdelete(topic->name, &topic->all->tree, by_name);
        free(topic);
    }
}

void topics_subscribe(struct topics *topics, const char *name, struct client *client) {
    struct topic *topic = find(topics, name);
    if (!topic) topic = make(topics, name);
    const struct subscription key = {.topic = topic};
    if (tfind(&key, &client->subscriptions, by_topic)) return;

    struct subscription *subscription = calloc(1, sizeof *subscription);
    if (!subscription) abort();
    subscription->topic = topic;
    subscription->client = client;
    lws_dll2_add_tail(&subscription->list, &topic->subscribers);
    if (!tsearch(subscription, &client->subscriptions, by_topic)) abort();
}

void topics_unsubscribe(struct topics *topics, const char *name, struct client *client) {
    const struct subscription key = {.topic = find(topics, name)};
    if (!key.topic) return;
    struct subscription *const *found = tfind(&key, &client->subscriptions, by_topic);
    if (!found) return;
    struct subscription *subscription = *found;
    tdelete(&key, &client->subscriptions, by_topic);
    end(subscription);
}

void topics_leave(struct client *client) {
    tdestroy(client->subscriptions, end);
    client->subscriptions = NULL;
}

struct lws_dll2 *topics_subscribers(struct topics *topics, const char *name) {
    const struct topic *topic = find(topics, name);
    return topic ? topic->subscribers.head : NULL;
}
