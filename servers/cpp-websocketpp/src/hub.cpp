#include "hub.h"

void send(const ConnectionPtr &to, const MessagePtr &message, size_t maxQueued) {
    if (!to->send(message) && to->get_buffered_amount() > maxQueued) to->interrupt();
}

void Hub::join(const ConnectionPtr &connection) {
    std::lock_guard lock(mutex_);
    joining_.try_emplace(connection);
}

void Hub::open(const ConnectionPtr &connection) {
    std::lock_guard lock(mutex_);
    for (const MessagePtr &message : joining_[connection]) send(connection, message);
    joining_.erase(connection);
    open_.insert(connection);
}

void Hub::leave(const ConnectionPtr &connection) {
    std::lock_guard lock(mutex_);
    joining_.erase(connection);
    open_.erase(connection);
}

void Hub::broadcast(const MessagePtr &message) {
    std::lock_guard lock(mutex_);
    for (const ConnectionPtr &connection : open_) send(connection, message);
    for (auto &[connection, missed] : joining_) missed.push_back(message);
}
