// The connections, and the broadcast to all of them. Safe to call from any thread.
// Knows payloads, and nothing of what is in them.

#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>

class Session;

struct Message {
    std::string payload;
    bool isText;
};
using MessagePtr = std::shared_ptr<Message const>;

class Hub {
public:
    void join(std::shared_ptr<Session> session);
    void leave(const std::shared_ptr<Session> &session);

    // Returns when the message is on its way to the strand of every connection.
    void broadcast(const MessagePtr &message);

private:
    std::mutex mutex_;
    std::unordered_set<std::shared_ptr<Session>> sessions_;
};
