#include "topics.h"

void Topics::subscribe(const ConnectionPtr &connection, const std::string &topic,
                       const MessagePtr &answer) {
    std::lock_guard lock(mutex_);
    send(connection, answer);
    subscribers_[topic].insert(connection);
    subscriptions_[connection].insert(topic);
}

void Topics::unsubscribe(const ConnectionPtr &connection, const std::string &topic) {
    std::lock_guard lock(mutex_);
    const auto found = subscriptions_.find(connection);
    if (found == subscriptions_.end() || !found->second.erase(topic)) return;
    if (found->second.empty()) subscriptions_.erase(found);
    remove(connection, topic);
}

void Topics::leave(const ConnectionPtr &connection) {
    std::lock_guard lock(mutex_);
    const auto found = subscriptions_.find(connection);
    if (found == subscriptions_.end()) return;
    for (const std::string &topic : found->second) remove(connection, topic);
    subscriptions_.erase(found);
}

void Topics::publish(const std::string &topic, const MessagePtr &message) {
    std::lock_guard lock(mutex_);
    const auto found = subscribers_.find(topic);
    if (found == subscribers_.end()) return;
    for (const ConnectionPtr &connection : found->second) send(connection, message);
}

void Topics::remove(const ConnectionPtr &connection, const std::string &topic) {
    const auto found = subscribers_.find(topic);
    found->second.erase(connection);
    if (found->second.empty()) subscribers_.erase(found);
}
