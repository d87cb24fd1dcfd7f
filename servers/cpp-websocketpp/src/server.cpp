#include "server.h"

#include <websocketpp/processors/hybi13.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hub.h"
#include "text_request.h"
#include "topics.h"

namespace {

namespace close_code = websocketpp::close::status;
namespace opcode = websocketpp::frame::opcode;

using websocketpp::connection_hdl;

constexpr size_t MIB = 1024 * 1024;

class Server {
public:
    explicit Server(const Options &options) : options_(options), loop_(options.threads) {
        // Every abrupt disconnect is an error to the library's log.
        endpoint_.clear_access_channels(websocketpp::log::alevel::all);
        endpoint_.clear_error_channels(websocketpp::log::elevel::all);
        endpoint_.init_asio(&loop_);
        endpoint_.set_reuse_addr(true);
        endpoint_.set_max_message_size(options_.maxMessageMib * MIB);
        // The library's socket_init_handler comes before the accept, when there is no socket yet.
        endpoint_.set_tcp_pre_init_handler([this](connection_hdl hdl) {
            asio::error_code gone;
            at(hdl)->get_raw_socket().set_option(asio::ip::tcp::no_delay(true), gone);
        });
        endpoint_.set_validate_handler([this](connection_hdl hdl) { return onHandshake(at(hdl)); });
        endpoint_.set_open_handler([this](connection_hdl hdl) { hub_.open(at(hdl)); });
        endpoint_.set_close_handler([this](connection_hdl hdl) {
            hub_.leave(at(hdl));
            topics_.leave(at(hdl));
        });
        endpoint_.set_fail_handler([this](connection_hdl hdl) { hub_.leave(at(hdl)); });
        endpoint_.set_message_handler([this](connection_hdl hdl, MessagePtr message) {
            onMessage(at(hdl), message);
        });
        endpoint_.set_interrupt_handler([this](connection_hdl hdl) {
            using namespace websocketpp::error;
            at(hdl)->terminate(make_error_code(send_queue_full));
        });
    }

    void run() {
        try {
            endpoint_.listen(options_.address, std::to_string(options_.port));
            endpoint_.start_accept();
        } catch (const std::exception &error) {
            std::fprintf(stderr, "cpp-websocketpp-server: cannot listen on %s port %d: %s\n",
                         options_.address.c_str(), options_.port, error.what());
            return;
        }
        std::vector<std::thread> others;
        for (int i = 1; i < options_.threads; i++) others.emplace_back([this] { loop_.run(); });
        loop_.run();
        for (std::thread &other : others) other.join();
    }

private:
    ConnectionPtr at(connection_hdl hdl) { return endpoint_.get_con_from_hdl(hdl); }

    // The library also speaks the drafts 0, 7 and 8, which the shared frames are not made for.
    bool onHandshake(const ConnectionPtr &connection) {
        if (connection->get_request_header("Sec-WebSocket-Version") != "13") {
            connection->set_status(websocketpp::http::status_code::upgrade_required);
            connection->append_header("Sec-WebSocket-Version", "13");
            return false;
        }
        hub_.join(connection);
        return true;
    }

    void onMessage(const ConnectionPtr &from, const MessagePtr &message) {
        if (options_.rawEcho) {
            send(from, message, std::max(MAX_QUEUED, 2 * options_.maxMessageMib * MIB));
        } else if (message->get_opcode() == opcode::text) {
            onText(from, message->get_payload());
        } else {
            onBinary(from, message);
        }
    }

    void onText(const ConnectionPtr &from, const std::string &message) {
        if (options_.dialects == Dialects::BinaryOnly) return refuse(from, "text");
        auto request = parseTextRequest(message);
        if (!request) return sendError(from, "not a JSON object");
        if (request->type == TextRequest::Type::Subscribe ||
            request->type == TextRequest::Type::Unsubscribe ||
            request->type == TextRequest::Type::Publish) {
            return onTopic(from, *request);
        }
        if (!request->payload) return sendError(from, "no payload");
        if (request->type == TextRequest::Type::Unknown) return sendError(from, "unknown type");

        const bool isEcho = request->type == TextRequest::Type::Echo;
        auto answer =
            frame(formatText(isEcho ? "echo" : "broadcast", *request->payload), opcode::text);
        if (!answer) return sendError(from, "a lone surrogate in a string");
        if (isEcho) return send(from, answer);
        broadcast(from, answer,
                  frame(formatText("broadcastResult", *request->payload), opcode::text));
    }

    void onTopic(const ConnectionPtr &from, const TextRequest &request) {
        const auto &[type, topic, payload] = request;
        if (!topic) return sendError(from, "no topic of such a name");
        if (type == TextRequest::Type::Subscribe) {
            const std::string answer = formatAbout("subscribed", *topic, nullptr);
            topics_.subscribe(from, *topic, frame(answer, opcode::text));
        } else if (type == TextRequest::Type::Unsubscribe) {
            topics_.unsubscribe(from, *topic);
            send(from, frame(formatAbout("unsubscribed", *topic, nullptr), opcode::text));
        } else if (!payload) {
            sendError(from, "no payload");
        } else {
            auto message = frame(formatAbout("message", *topic, &*payload), opcode::text);
            if (!message) return sendError(from, "a lone surrogate in a string");
            topics_.publish(*topic, message);
            send(from, frame(formatAbout("publishResult", *topic, &*payload), opcode::text));
        }
    }

    void onBinary(const ConnectionPtr &from, const MessagePtr &message) {
        if (options_.dialects == Dialects::JsonOnly) return refuse(from, "binary");
        const std::string &payload = message->get_payload();
        if (payload.empty()) return sendError(from, "empty binary message");
        if (payload[0] == 'e') {
            send(from, message);
        } else if (payload[0] == 'b') {
            std::string result = payload;
            result[0] = 'r';
            broadcast(from, frame(payload, opcode::binary),
                      frame(std::move(result), opcode::binary));
        } else {
            sendError(from, "unknown type");
        }
    }

    // A message that is framed already goes as it is to any number of connections. Nothing comes
    // back for text that is not UTF-8, which a \u escape in JSON can make.
    MessagePtr frame(std::string payload, opcode::value op) {
        MessagePtr plain = messages_->get_message(op, 0);
        plain->get_raw_payload() = std::move(payload);
        MessagePtr framed = messages_->get_message();
        if (processor_.prepare_data_frame(plain, framed)) return nullptr;
        return framed;
    }

    void broadcast(const ConnectionPtr &from, const MessagePtr &message, const MessagePtr &result) {
        hub_.broadcast(message);
        send(from, result);
    }

    void sendError(const ConnectionPtr &to, const char *words) {
        send(to, frame(formatText("error", words), opcode::text));
    }

    static void refuse(const ConnectionPtr &from, const std::string &what) {
        websocketpp::lib::error_code ignored;
        from->close(close_code::unsupported_data, "this server takes no " + what + " messages",
                    ignored);
    }

    const Options options_;
    asio::io_service loop_;
    Endpoint endpoint_;
    Hub hub_;
    Topics topics_;

    const Config::con_msg_manager_type::ptr messages_ =
        std::make_shared<Config::con_msg_manager_type>();
    Config::rng_type rng_;
    // Frames as a server does, without a mask and so without a random number.
    websocketpp::processor::hybi13<Config> processor_{false, true, messages_, rng_};
};

}  // namespace

void serve(const Options &options) {
    Server(options).run();
}
