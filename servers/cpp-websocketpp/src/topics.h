// Who is subscribed to what. Safe to call from any thread.
// Knows frames that are ready to send, and nothing of what is in them.

#pragma once

#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "hub.h"

class Topics {
public:
    // Nothing of the topic comes before the answer.
    void subscribe(const ConnectionPtr &connection, const std::string &topic,
                   const MessagePtr &answer);

    // Nothing of the topic is queued when this has returned.
    void unsubscribe(const ConnectionPtr &connection, const std::string &topic);

    // Ends all subscriptions of a connection.
    void leave(const ConnectionPtr &connection);

    // Returns when the message is in the queue of every subscriber.
    void publish(const std::string &topic, const MessagePtr &message);

private:
    void remove(const ConnectionPtr &connection, const std::string &topic);

    std::mutex mutex_;
    // Neither holds empty sets.
    std::unordered_map<std::string, std::unordered_set<ConnectionPtr>> subscribers_;
    std::unordered_map<ConnectionPtr, std::unordered_set<std::string>> subscriptions_;
};
