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
    return TextRequest::Type::Unknown;
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

    TextRequest request{typeOf(root["type"]), {}};
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
