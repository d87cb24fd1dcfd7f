#include "topics.h"

#include "session.h"

void Topics::subscribe(const std::string &topic, const std::shared_ptr<Session> &session,
                       const MessagePtr &answer) {
    std::lock_guard lock(mutex_);
    session->post(answer);
    topics_[topic].insert(session);
}

void Topics::unsubscribe(const std::string &topic, const std::shared_ptr<Session> &session) {
    std::lock_guard lock(mutex_);
    const auto found = topics_.find(topic);
    if (found == topics_.end()) return;
    found->second.erase(session);
    if (found->second.empty()) topics_.erase(found);
}

void Topics::publish(const std::string &topic, const MessagePtr &message) {
    std::lock_guard lock(mutex_);
    const auto found = topics_.find(topic);
    if (found == topics_.end()) return;
    for (const auto &session : found->second) session->post(message);
}
