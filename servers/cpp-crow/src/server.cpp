#include "server.h"

#include <crow.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <list>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "text_request.h"

namespace {

using crow::websocket::CloseStatusCode;
using Connection = crow::websocket::connection;

// Messages, and whether they are binary.
using Missed = std::vector<std::pair<std::string, bool>>;

constexpr size_t MAX_MESSAGE = 16 * 1024 * 1024;

class Server {
public:
    explicit Server(const Options &options) : options_(options) {
        app_.loglevel(crow::LogLevel::Critical);
        CROW_WEBSOCKET_ROUTE(app_, "/")
            .max_payload(MAX_MESSAGE)
            .onaccept([this](const crow::request &request, void **joining) {
                return onAccept(request, joining);
            })
            .onopen([this](Connection &connection) { onOpen(connection); })
            .onclose([this](Connection &connection, const std::string &, uint16_t) {
                std::lock_guard lock(mutex_);
                connections_.erase(&connection);
            })
            .onmessage([this](Connection &from, const std::string &message, bool isBinary) {
                onMessage(from, message, isBinary);
            });
    }

    void run() {
        app_.bindaddr(options_.address)
            .port(uint16_t(options_.port))
            // One of Crow's threads only accepts.
            .concurrency(uint16_t(options_.threads + 1))
            .run();
    }

private:
    // Crow upgrades any request; it leaves the version and the key (RFC 6455, 4.2.1) to us.
    //
    // Between this handler and onOpen Crow sends its answer. A client that has it may be told of a
    // broadcast on another loop, and is owed it. There is no connection to send to before onOpen;
    // so broadcasts are kept from here to there.
    bool onAccept(const crow::request &request, void **joining) {
        if (request.get_header_value("Sec-WebSocket-Version") != "13") return false;
        if (request.get_header_value("Sec-WebSocket-Key").empty()) return false;
        std::lock_guard lock(mutex_);
        *joining = &*joining_.emplace(joining_.end());
        return true;
    }

    void onOpen(Connection &connection) {
        std::lock_guard lock(mutex_);
        auto joined = std::find_if(joining_.begin(), joining_.end(), [&](const Missed &missed) {
            return &missed == connection.userdata();
        });
        for (const auto &[message, isBinary] : *joined) send(connection, message, isBinary);
        joining_.erase(joined);
        connections_.insert(&connection);
    }

    void onMessage(Connection &from, const std::string &message, bool isBinary) {
        // Crow's own limit is one for frames.
        if (message.size() > MAX_MESSAGE) {
            from.close("larger than 16 MiB", CloseStatusCode::MessageTooBig);
        } else if (options_.rawEcho) {
            send(from, message, isBinary);
        } else if (isBinary) {
            onBinary(from, message);
        } else {
            onText(from, message);
        }
    }

    void onText(Connection &from, const std::string &message) {
        if (options_.dialects == Dialects::BinaryOnly) {
            return from.close("this server takes no text messages",
                              CloseStatusCode::UnacceptableData);
        }
        auto request = parseTextRequest(message);
        // 1007 is the code for text that is not UTF-8, which is among these.
        if (!request) return from.close("not a JSON object", CloseStatusCode::InconsistentData);
        if (!request->payload) return sendError(from, "no payload");
        switch (request->type) {
            case TextRequest::Type::Echo:
                send(from, formatText("echo", *request->payload), false);
                break;
            case TextRequest::Type::Broadcast:
                broadcast(from, formatText("broadcast", *request->payload),
                          formatText("broadcastResult", *request->payload), false);
                break;
            case TextRequest::Type::Unknown:
                sendError(from, "unknown type");
        }
    }

    void onBinary(Connection &from, const std::string &message) {
        if (options_.dialects == Dialects::JsonOnly) {
            return from.close("this server takes no binary messages",
                              CloseStatusCode::UnacceptableData);
        }
        if (message.empty()) return sendError(from, "empty binary message");
        if (message[0] == 'e') {
            send(from, message, true);
        } else if (message[0] == 'b') {
            std::string result(message);
            result[0] = 'r';
            broadcast(from, message, result, true);
        } else {
            sendError(from, "unknown type");
        }
    }

    // Crow posts each message to the loop of its connection, in the order of the calls.
    static void send(Connection &to, const std::string &message, bool isBinary) {
        if (isBinary) to.send_binary(message);
        else to.send_text(message);
    }

    void broadcast(Connection &from, const std::string &message, const std::string &result,
                   bool isBinary) {
        {
            std::lock_guard lock(mutex_);
            for (Connection *connection : connections_) send(*connection, message, isBinary);
            for (Missed &missed : joining_) missed.emplace_back(message, isBinary);
        }
        send(from, result, isBinary);
    }

    static void sendError(Connection &to, const char *words) {
        send(to, formatError(words), false);
    }

    const Options options_;
    crow::SimpleApp app_;
    std::mutex mutex_;
    // A connection lives at least until its onclose has returned.
    std::unordered_set<Connection *> connections_;
    // What was broadcast since onAccept, for each connection that onOpen has not seen.
    std::list<Missed> joining_;
};

}  // namespace

int serve(const Options &options) {
    std::string reason;
    crow::error_code notAnAddress;
    asio::ip::make_address(options.address, notAnAddress);
    if (notAnAddress) {
        reason = "not an IP address";
    } else {
        try {
            Server(options).run();
            return 0;
        } catch (const std::exception &error) {
            reason = error.what();
        }
    }
    std::fprintf(stderr, "cpp-crow-server: cannot listen on %s port %d: %s\n",
                 options.address.c_str(), options.port, reason.c_str());
    return 1;
}
