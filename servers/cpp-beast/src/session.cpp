#include "session.h"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/bind_handler.hpp>

#include <utility>

#include "text_request.h"

namespace {

namespace beast = boost::beast;
namespace websocket = beast::websocket;
namespace net = boost::asio;

constexpr size_t MAX_MESSAGE = 16 * 1024 * 1024;
constexpr size_t MAX_QUEUED = 64 * 1024 * 1024;
// What a connection keeps of its read buffer between two messages.
constexpr size_t KEPT_BUFFER = 64 * 1024;

MessagePtr message(std::string payload, bool isText) {
    return std::make_shared<Message const>(Message{std::move(payload), isText});
}

}  // namespace

Session::Session(net::ip::tcp::socket socket, Hub &hub, Topics &topics, const Options &options)
    : ws_(std::move(socket)), hub_(hub), topics_(topics), options_(options) {}

void Session::start() {
    net::dispatch(ws_.get_executor(),
                  beast::bind_front_handler(&Session::accept, shared_from_this()));
}

void Session::accept() {
    beast::error_code gone;
    beast::get_lowest_layer(ws_).socket().set_option(net::ip::tcp::no_delay(true), gone);

    auto timeout = websocket::stream_base::timeout::suggested(beast::role_type::server);
    timeout.idle_timeout = websocket::stream_base::none();
    timeout.keep_alive_pings = false;
    ws_.set_option(timeout);
    ws_.read_message_max(MAX_MESSAGE);
    websocket::permessage_deflate deflate;
    deflate.server_enable = options_.deflate;
    ws_.set_option(deflate);
    // One frame for each message, written from the payload without a copy.
    ws_.auto_fragment(false);

    // Before the handshake is answered: a client that has the answer may be told of a broadcast
    // on another connection, and is owed it.
    hub_.join(shared_from_this());
    ws_.async_accept(beast::bind_front_handler(&Session::onAccept, shared_from_this()));
}

void Session::onAccept(beast::error_code error) {
    if (error) return end();
    isOpen_ = true;
    if (!queue_.empty()) write();
    read();
}

void Session::read() {
    ws_.async_read(buffer_, [self = shared_from_this()](beast::error_code error, size_t) {
        self->onRead(error);
    });
}

void Session::onRead(beast::error_code error) {
    if (error) return end();

    const auto data = buffer_.cdata();
    const std::string_view received(static_cast<const char *>(data.data()), data.size());
    if (options_.rawEcho) {
        send(message(std::string(received), ws_.got_text()));
    } else if (ws_.got_text()) {
        onText(received);
    } else {
        onBinary(received);
    }

    buffer_.consume(buffer_.size());
    if (buffer_.capacity() > KEPT_BUFFER) buffer_.shrink_to_fit();
    read();
}

void Session::onText(std::string_view received) {
    auto request = parseTextRequest(received);
    if (!request) return sendError("not a JSON object");
    const auto &[type, topic, payload] = *request;
    using Type = TextRequest::Type;
    const bool inRoom = type == Type::Subscribe || type == Type::Unsubscribe || type == Type::Publish;
    if (inRoom && !topic) return sendError("no topic of such a name");
    if (type == Type::Subscribe) return subscribe(*topic);
    if (type == Type::Unsubscribe) return unsubscribe(*topic);
    if (!payload) return sendError("no payload");
    if (type == Type::Echo) {
        send(message(formatText("echo", *payload), true));
    } else if (type == Type::Broadcast) {
        broadcast(formatText("broadcast", *payload), formatText("broadcastResult", *payload), true);
    } else if (type == Type::Publish) {
        topics_.publish(*topic, message(formatPublication("message", *topic, *payload), true));
        post(message(formatPublication("publishResult", *topic, *payload), true));
    } else {
        sendError("unknown type");
    }
}

// The answers are posted, as what is published is: on the strand they keep its order.
void Session::subscribe(const std::string &topic) {
    const auto answer = message(formatSubscription("subscribed", topic), true);
    if (subscriptions_.insert(topic).second) {
        topics_.subscribe(topic, shared_from_this(), answer);
    } else {
        post(answer);
    }
}

void Session::unsubscribe(const std::string &topic) {
    if (subscriptions_.erase(topic)) topics_.unsubscribe(topic, shared_from_this());
    post(message(formatSubscription("unsubscribed", topic), true));
}

void Session::onBinary(std::string_view received) {
    if (received.empty()) return sendError("empty binary message");
    if (received[0] == 'e') {
        send(message(std::string(received), false));
    } else if (received[0] == 'b') {
        std::string result(received);
        result[0] = 'r';
        broadcast(std::string(received), std::move(result), false);
    } else {
        sendError("unknown type");
    }
}

// A strand runs what it is given in that order. So on every connection the broadcast is before
// whatever is asked for after the result, and on this one before the result.
void Session::broadcast(std::string payload, std::string result, bool isText) {
    hub_.broadcast(message(std::move(payload), isText));
    post(message(std::move(result), isText));
}

void Session::sendError(std::string_view words) {
    send(message(formatError(words), true));
}

void Session::post(MessagePtr message) {
    net::post(ws_.get_executor(),
              beast::bind_front_handler(&Session::send, shared_from_this(), std::move(message)));
}

void Session::send(MessagePtr message) {
    if (!queue_.empty() && queuedBytes_ + message->payload.size() > MAX_QUEUED) return end();
    queuedBytes_ += message->payload.size();
    queue_.push_back(std::move(message));
    if (isOpen_ && queue_.size() == 1) write();
}

void Session::write() {
    ws_.text(queue_.front()->isText);
    ws_.async_write(net::buffer(queue_.front()->payload),
                    [self = shared_from_this()](beast::error_code error, size_t) {
                        self->onWrite(error);
                    });
}

void Session::onWrite(beast::error_code error) {
    // The read that is under way learns of it too, and ends the session.
    if (error) return;
    queuedBytes_ -= queue_.front()->payload.size();
    queue_.pop_front();
    if (!queue_.empty()) write();
}

// Closing the socket ends what is under way on it.
void Session::end() {
    hub_.leave(shared_from_this());
    for (const auto &topic : subscriptions_) topics_.unsubscribe(topic, shared_from_this());
    subscriptions_.clear();
    beast::get_lowest_layer(ws_).close();
}
