#include "server.h"

#include <App.h>

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "text_request.h"

namespace {

constexpr unsigned MIB = 1024 * 1024;
// Every socket's topic; no room has such a name.
constexpr char ALL[] = "*";
#ifdef UWS_NO_ZLIB
constexpr auto COMPRESSION = uWS::DISABLED;
#else
constexpr auto COMPRESSION = uWS::SHARED_COMPRESSOR;
#endif
constexpr bool COMPRESS = COMPRESSION != uWS::DISABLED;

struct Peer;
using Socket = uWS::WebSocket<false, true, Peer>;

struct Peer {
    // Goes with the socket, so that a result which returns from the other loops can tell whether
    // its sender is still there. Only ever dereferenced on the socket's own loop.
    std::shared_ptr<Socket *> self;
};

struct Shard {
    uWS::App *app = nullptr;
    uWS::Loop *loop = nullptr;
};

struct Publication {
    std::string topic;
    std::string message;
    std::string result;
    uWS::OpCode opCode;
    std::weak_ptr<Socket *> sender;
    uWS::Loop *home;
    std::atomic<size_t> pending;
};

// The ack rule over several loops: the last loop that has queued the message sends the result
// back to the sender's loop.
void publishOn(const Shard &shard, const std::shared_ptr<Publication> &task) {
    shard.app->publish(task->topic, task->message, task->opCode, COMPRESS);
    if (task->pending.fetch_sub(1) != 1) return;
    task->home->defer([task] {
        if (auto sender = task->sender.lock()) {
            Socket *ws = *sender;
            ws->cork([&] { ws->send(task->result, task->opCode, COMPRESS); });
        }
    });
}

class Server {
public:
    explicit Server(const Options &options)
        : options_(options), shards_(options.threads), listening_(options.threads) {}

    void runLoop(size_t index) {
        uWS::App app;
        Shard &home = shards_[index];
        home = {&app, uWS::Loop::get()};
        app.ws<Peer>("/*", {
            .compression = COMPRESSION,
            .maxPayloadLength = options_.maxMessageMib * MIB,
            .idleTimeout = 0,
            .maxBackpressure = std::max(64u, 2 * options_.maxMessageMib) * MIB,
            .closeOnBackpressureLimit = true,
            .sendPingsAutomatically = false,
            .upgrade = upgrade,
            .open = [](Socket *ws) { ws->subscribe(ALL); },
            .message = [this, &home](Socket *ws, std::string_view message, uWS::OpCode opCode) {
                if (options_.rawEcho) ws->send(message, opCode, COMPRESS);
                else if (opCode == uWS::TEXT) onText(home, ws, message);
                else onBinary(home, ws, message);
            },
        });
        // A single loop has its port for itself; several share it among themselves, and the
        // kernel spreads the connections over them.
        int sharing = shards_.size() == 1 ? LIBUS_LISTEN_EXCLUSIVE_PORT : LIBUS_LISTEN_DEFAULT;
        app.listen(options_.address, options_.port, sharing, [this](us_listen_socket_t *socket) {
            if (socket) return;
            std::fprintf(stderr, "cpp-uwebsockets-server: cannot listen on %s port %d\n",
                         options_.address.c_str(), options_.port);
            std::quick_exit(1);
        });
        // No request may be read before every loop can be published to.
        listening_.arrive_and_wait();
        app.run();
    }

private:
    // uWebSockets upgrades any request with a key; it leaves the version (RFC 6455, 4.2.2) to us.
    static void upgrade(uWS::HttpResponse<false> *response, uWS::HttpRequest *request,
                        us_socket_context_t *context) {
        if (request->getHeader("sec-websocket-version") != "13") {
            response->writeStatus("426 Upgrade Required")
                ->writeHeader("Sec-WebSocket-Version", "13")
                ->end();
            return;
        }
        response->upgrade<Peer>({}, request->getHeader("sec-websocket-key"),
                                request->getHeader("sec-websocket-protocol"),
                                request->getHeader("sec-websocket-extensions"), context);
    }

    void onText(const Shard &home, Socket *ws, std::string_view message) {
        if (options_.dialects == Dialects::BinaryOnly) {
            return ws->end(1003, "this server takes binary messages only");
        }
        auto request = parseTextRequest(message);
        if (!request) return sendError(ws, "not a JSON object");
        const auto &[type, topic, payload] = *request;
        using enum TextRequest::Type;
        const bool inRoom = type == Subscribe || type == Unsubscribe || type == Publish;
        if (inRoom && !topic) return sendError(ws, "no topic of such a name");
        if (type != Subscribe && type != Unsubscribe && !payload) return sendError(ws, "no payload");
        switch (type) {
            case Echo:
                ws->send(formatText("echo", *payload), uWS::TEXT, COMPRESS);
                break;
            case Broadcast:
                publish(home, ws, ALL, formatText("broadcast", *payload),
                        formatText("broadcastResult", *payload), uWS::TEXT);
                break;
            case Subscribe:
                ws->subscribe(*topic);
                ws->send(formatSubscription("subscribed", *topic), uWS::TEXT, COMPRESS);
                break;
            case Unsubscribe:
                ws->unsubscribe(*topic);
                ws->send(formatSubscription("unsubscribed", *topic), uWS::TEXT, COMPRESS);
                break;
            case Publish:
                publish(home, ws, *topic, formatPublication("message", *topic, *payload),
                        formatPublication("publishResult", *topic, *payload), uWS::TEXT);
                break;
            case Unknown:
                sendError(ws, "unknown type");
        }
    }

    void onBinary(const Shard &home, Socket *ws, std::string_view message) {
        if (options_.dialects == Dialects::JsonOnly) {
            return ws->end(1003, "this server takes text messages only");
        }
        if (message.empty()) return sendError(ws, "empty binary message");
        if (message[0] == 'e') {
            ws->send(message, uWS::BINARY, COMPRESS);
        } else if (message[0] == 'b') {
            std::string result(message);
            result[0] = 'r';
            publish(home, ws, ALL, std::string(message), std::move(result), uWS::BINARY);
        } else {
            sendError(ws, "unknown type");
        }
    }

    void publish(const Shard &home, Socket *ws, std::string_view topic, std::string message,
                 std::string result, uWS::OpCode opCode) {
        if (shards_.size() == 1) {
            home.app->publish(topic, message, opCode, COMPRESS);
            ws->send(result, opCode, COMPRESS);
            return;
        }
        auto &self = ws->getUserData()->self;
        if (!self) self = std::make_shared<Socket *>(ws);
        auto task = std::make_shared<Publication>(std::string(topic), std::move(message),
                                                  std::move(result), opCode, self, home.loop,
                                                  shards_.size());
        for (const Shard &shard : shards_) {
            if (&shard != &home) shard.loop->defer([&shard, task] { publishOn(shard, task); });
        }
        publishOn(home, task);
    }

    static void sendError(Socket *ws, std::string_view words) {
        ws->send(formatError(words), uWS::TEXT);
    }

    const Options options_;
    std::vector<Shard> shards_;
    std::latch listening_;
};

// Loops that share a port would also share it with a server that is there already, without any
// error; so a socket that does not share is bound first, and closed again.
bool portIsFree(const Options &options) {
    addrinfo hints{};
    hints.ai_flags = AI_PASSIVE;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo *found = nullptr;
    const std::string port = std::to_string(options.port);
    std::string reason;
    if (int code = getaddrinfo(options.address.c_str(), port.c_str(), &hints, &found)) {
        reason = gai_strerror(code);
    } else {
        int fd = socket(found->ai_family, SOCK_STREAM, 0);
        int on = 1;
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (bind(fd, found->ai_addr, found->ai_addrlen) != 0) reason = std::strerror(errno);
        close(fd);
        freeaddrinfo(found);
    }
    if (!reason.empty()) {
        std::fprintf(stderr, "cpp-uwebsockets-server: cannot listen on %s port %d: %s\n",
                     options.address.c_str(), options.port, reason.c_str());
    }
    return reason.empty();
}

}  // namespace

void serve(const Options &options) {
    if (!portIsFree(options)) return;
    Server server(options);
    std::vector<std::jthread> others;
    for (int i = 1; i < options.threads; i++) {
        others.emplace_back([&server, i] { server.runLoop(i); });
    }
    server.runLoop(0);
}
