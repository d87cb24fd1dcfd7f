#include "text_request.h"

#include <json/reader.h>
#include <json/writer.h>

#include <memory>
#include <sstream>
#include <utility>

namespace {

// Readers and writers are costly to make (each looks its settings up by name) and are not to be
// shared between threads.
Json::CharReader &reader() {
    thread_local const std::unique_ptr<Json::CharReader> reader = [] {
        Json::CharReaderBuilder builder;
        Json::CharReaderBuilder::strictMode(&builder.settings_);
        builder["rejectDupKeys"] = false;
        return std::unique_ptr<Json::CharReader>(builder.newCharReader());
    }();
    return *reader;
}

Json::StreamWriter &writer() {
    thread_local const std::unique_ptr<Json::StreamWriter> writer = [] {
        Json::StreamWriterBuilder builder;
        builder["indentation"] = "";
        builder["emitUTF8"] = true;
        return std::unique_ptr<Json::StreamWriter>(builder.newStreamWriter());
    }();
    return *writer;
}

TextRequest::Type typeOf(const Json::Value &name) {
    if (name == "echo") return TextRequest::Type::Echo;
    if (name == "broadcast") return TextRequest::Type::Broadcast;
    if (name == "subscribe") return TextRequest::Type::Subscribe;
    if (name == "unsubscribe") return TextRequest::Type::Unsubscribe;
    if (name == "publish") return TextRequest::Type::Publish;
    return TextRequest::Type::Unknown;
}

constexpr size_t LONGEST_TOPIC = 64;

std::optional<std::string> topicOf(const Json::Value &name) {
    static const char KNOWN[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:";
    if (!name.isString()) return {};
    std::string topic = name.asString();
    if (topic.empty() || topic.size() > LONGEST_TOPIC) return {};
    if (topic.find_first_not_of(KNOWN) != std::string::npos) return {};
    return topic;
}

}  // namespace

std::optional<TextRequest> parseTextRequest(const std::string &message) {
    Json::Value root;
    try {
        const char *begin = message.data();
        if (!reader().parse(begin, begin + message.size(), &root, nullptr)) return {};
    } catch (const Json::Exception &) {  // nested deeper than the reader's limit of 1,000
        return {};
    }
    if (!root.isObject()) return {};

    TextRequest request{typeOf(root["type"]), topicOf(root["topic"]), {}};
    if (Json::Value payload; root.removeMember("payload", &payload)) {
        request.payload = std::move(payload);
    }
    return request;
}

std::string formatText(const char *type, const Json::Value &payload) {
    std::ostringstream json;
    json << R"({"type":")" << type << R"(","payload":)";
    writer().write(payload, &json);
    json << '}';
    return json.str();
}

// A topic has no character that JSON would escape.
std::string formatAbout(const char *type, const std::string &topic, const Json::Value *payload) {
    std::ostringstream json;
    json << R"({"type":")" << type << R"(","topic":")" << topic << '"';
    if (payload) {
        json << R"(,"payload":)";
        writer().write(*payload, &json);
    }
    json << '}';
    return json.str();
}
