// The text dialect: one JSON object per message, {"type": ..., "topic": ..., "payload": ...}.
// Parses and formats; sends nothing.

#pragma once

#include <json/value.h>

#include <optional>
#include <string>

struct TextRequest {
    enum class Type { Unknown, Echo, Broadcast, Subscribe, Unsubscribe, Publish };

    Type type = Type::Unknown;
    std::optional<std::string> topic;    // absent unless the member is a name of a topic
    std::optional<Json::Value> payload;  // absent when the member is
};

// The request in one message, or nothing when it is not one well-formed JSON object.
// Of a repeated member the last one counts; other members are skipped.
std::optional<TextRequest> parseTextRequest(const std::string &message);

std::string formatText(const char *type, const Json::Value &payload);

// Without a payload where that is null.
std::string formatAbout(const char *type, const std::string &topic, const Json::Value *payload);
