// The connections, and the broadcast to all of them. Safe to call from any thread.
// Knows frames that are ready to send, and nothing of what is in them.

#pragma once

#include <websocketpp/config/asio_no_tls.hpp>
#include <websocketpp/server.hpp>

#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

using Config = websocketpp::config::asio;
using Endpoint = websocketpp::server<Config>;
using ConnectionPtr = Endpoint::connection_ptr;
using MessagePtr = Endpoint::message_ptr;

constexpr size_t MAX_QUEUED = 64 * 1024 * 1024;

// Queues the message, which the connection's strand writes. A connection with more bytes in its
// queue is interrupted.
void send(const ConnectionPtr &to, const MessagePtr &message, size_t maxQueued = MAX_QUEUED);

class Hub {
public:
    // From before the handshake is answered, since the client may be told of a broadcast as soon
    // as it has that answer, while the library calls a connection open only afterwards.
    void join(const ConnectionPtr &connection);
    void open(const ConnectionPtr &connection);
    void leave(const ConnectionPtr &connection);

    // Returns when the message is in the queue of every connection.
    void broadcast(const MessagePtr &message);

private:
    std::mutex mutex_;
    std::unordered_set<ConnectionPtr> open_;
    std::unordered_map<ConnectionPtr, std::vector<MessagePtr>> joining_;
};
