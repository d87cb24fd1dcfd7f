#include "text_request.h"

#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>

namespace {

using rapidjson::SizeType;

// RapidJSON's filter pattern: the reader's events go straight on to a writer, without a document
// in between. Numbers travel as text, which keeps every digit.
constexpr unsigned PARSE_FLAGS =
    rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;

// Refuses what is no text: an escaped half of a surrogate pair would become invalid UTF-8.
using ValidatingWriter =
    rapidjson::Writer<rapidjson::StringBuffer, rapidjson::UTF8<>, rapidjson::UTF8<>,
                      rapidjson::CrtAllocator, rapidjson::kWriteValidateEncodingFlag>;

constexpr size_t LONGEST_TOPIC = 64;

bool isTopic(std::string_view name) {
    return !name.empty() && name.size() <= LONGEST_TOPIC &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') ||
                      c == '.' || c == '-' || c == '_' || c == ':';
           });
}

class RequestFilter : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, RequestFilter> {
public:
    TextRequest request() const {
        TextRequest result{type_, topic_, {}};
        if (hasPayload_) result.payload.emplace(json_.GetString(), json_.GetSize());
        return result;
    }

    bool Null() { return value([&] { return writer_.Null(); }); }
    bool Bool(bool b) { return value([&] { return writer_.Bool(b); }); }
    bool RawNumber(const char *text, SizeType length, bool) {
        return value([&] { return writer_.RawValue(text, length, rapidjson::kNumberType); });
    }
    bool String(const char *text, SizeType length, bool) {
        if (depth_ == 1 && member_ == Member::Type) type_ = typeOf({text, length});
        if (depth_ == 1 && member_ == Member::Topic && isTopic({text, length})) {
            topic_.emplace(text, length);
        }
        return value([&] { return writer_.String(text, length); });
    }
    bool Key(const char *text, SizeType length, bool) {
        if (depth_ > 1) return value([&] { return writer_.Key(text, length); });
        enterMember({text, length});
        return true;
    }
    bool StartObject() {
        return ++depth_ == 1 || value([&] { return writer_.StartObject(); });
    }
    bool EndObject(SizeType) {
        return --depth_ == 0 || value([&] { return writer_.EndObject(); });
    }
    bool StartArray() {
        return value([&] { return writer_.StartArray(); }) && ++depth_;
    }
    bool EndArray(SizeType) {
        return --depth_ && value([&] { return writer_.EndArray(); });
    }

private:
    enum class Member { Other, Type, Topic, Payload };

    // Returning false ends the parse: the message is no object.
    template <typename Write>
    bool value(Write write) {
        if (depth_ == 0) return false;
        return member_ == Member::Payload ? write() : true;
    }

    void enterMember(std::string_view key) {
        member_ = Member::Other;
        if (key == "type") {
            member_ = Member::Type;
            type_ = TextRequest::Type::Unknown;
        } else if (key == "topic") {
            member_ = Member::Topic;
            topic_.reset();
        } else if (key == "payload") {
            member_ = Member::Payload;
            hasPayload_ = true;
            json_.Clear();
            writer_.Reset(json_);
        }
    }

    static TextRequest::Type typeOf(std::string_view name) {
        if (name == "echo") return TextRequest::Type::Echo;
        if (name == "broadcast") return TextRequest::Type::Broadcast;
        if (name == "subscribe") return TextRequest::Type::Subscribe;
        if (name == "unsubscribe") return TextRequest::Type::Unsubscribe;
        if (name == "publish") return TextRequest::Type::Publish;
        return TextRequest::Type::Unknown;
    }

    size_t depth_ = 0;
    Member member_ = Member::Other;
    TextRequest::Type type_ = TextRequest::Type::Unknown;
    std::optional<std::string> topic_;
    bool hasPayload_ = false;
    rapidjson::StringBuffer json_;
    ValidatingWriter writer_{json_};
};

}  // namespace

std::optional<TextRequest> parseTextRequest(std::string_view message) {
    rapidjson::MemoryStream stream(message.data(), message.size());
    rapidjson::Reader reader;
    RequestFilter filter;
    // The reader takes a NUL byte for the end of the text, hence the look at how far it came.
    if (!reader.Parse<PARSE_FLAGS>(stream, filter) || stream.Tell() != message.size()) return {};
    return filter.request();
}

std::string formatText(std::string_view type, std::string_view payloadJson) {
    std::string json;
    json.reserve(type.size() + payloadJson.size() + 24);
    json.append(R"({"type":")").append(type).append(R"(","payload":)").append(payloadJson);
    json.push_back('}');
    return json;
}

// A topic has no character that JSON would escape.
std::string formatSubscription(std::string_view type, std::string_view topic) {
    std::string json;
    json.append(R"({"type":")").append(type).append(R"(","topic":")").append(topic).append(R"("})");
    return json;
}

std::string formatPublication(std::string_view type, std::string_view topic,
                              std::string_view payloadJson) {
    std::string json;
    json.reserve(type.size() + topic.size() + payloadJson.size() + 36);
    json.append(R"({"type":")").append(type).append(R"(","topic":")").append(topic);
    json.append(R"(","payload":)").append(payloadJson).push_back('}');
    return json;
}

std::string formatError(std::string_view words) {
    rapidjson::StringBuffer payload;
    rapidjson::Writer<rapidjson::StringBuffer> writer(payload);
    writer.String(words.data(), SizeType(words.size()));
    return formatText("error", {payload.GetString(), payload.GetSize()});
}
