// One connection: its handshake, its requests, its queue of messages to write.

#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/websocket/stream.hpp>

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

#include "hub.h"
#include "options.h"
#include "topics.h"

class Session : public std::enable_shared_from_this<Session> {
public:
    // The socket's executor is the strand on which everything here but post() runs.
    Session(boost::asio::ip::tcp::socket socket, Hub &hub, Topics &topics, const Options &options);

    void start();

    // From any thread: queues the message on the strand.
    void post(MessagePtr message);

private:
    void accept();
    void onAccept(boost::beast::error_code error);
    void read();
    void onRead(boost::beast::error_code error);
    void onText(std::string_view message);
    void subscribe(const std::string &topic);
    void unsubscribe(const std::string &topic);
    void onBinary(std::string_view message);
    void broadcast(std::string message, std::string result, bool isText);
    void sendError(std::string_view words);
    void send(MessagePtr message);
    void write();
    void onWrite(boost::beast::error_code error);
    void end();

    boost::beast::websocket::stream<boost::beast::tcp_stream> ws_;
    Hub &hub_;
    Topics &topics_;
    const Options &options_;
    boost::beast::flat_buffer buffer_;
    std::unordered_set<std::string> subscriptions_;
    std::deque<MessagePtr> queue_;
    size_t queuedBytes_ = 0;
    bool isOpen_ = false;
};
