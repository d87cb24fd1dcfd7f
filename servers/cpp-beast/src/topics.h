// Who is subscribed to what. Safe to call from any thread. Sends through Session::post alone, so
// that what is posted under the lock keeps its order on the strand of each session.

#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "hub.h"

class Topics {
public:
    // Nothing of the topic comes before the answer.
    void subscribe(const std::string &topic, const std::shared_ptr<Session> &session,
                   const MessagePtr &answer);

    // What was published before is on its way to the session's strand.
    void unsubscribe(const std::string &topic, const std::shared_ptr<Session> &session);

    // Returns when the message is on its way to the strand of every subscriber.
    void publish(const std::string &topic, const MessagePtr &message);

private:
    std::mutex mutex_;
    std::unordered_map<std::string, std::unordered_set<std::shared_ptr<Session>>> topics_;
};
