#include "hub.h"

#include <utility>

#include "session.h"

void Hub::join(std::shared_ptr<Session> session) {
    std::lock_guard lock(mutex_);
    sessions_.insert(std::move(session));
}

void Hub::leave(const std::shared_ptr<Session> &session) {
    std::lock_guard lock(mutex_);
    sessions_.erase(session);
}

void Hub::broadcast(const MessagePtr &message) {
    std::lock_guard lock(mutex_);
    for (const auto &session : sessions_) session->post(message);
}
