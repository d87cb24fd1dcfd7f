// The text dialect: one JSON object per message, {"type": ..., "topic": ..., "payload": ...}.
// Parses and formats; sends nothing.

#pragma once

#include <optional>
#include <string>
#include <string_view>

struct TextRequest {
    enum class Type { Unknown, Echo, Broadcast, Subscribe, Unsubscribe, Publish };

    Type type = Type::Unknown;
    std::optional<std::string> topic;    // absent unless the member is a name of a room
    std::optional<std::string> payload;  // JSON text, absent when the member is
};

// The request in one message, or nothing when it is not one well-formed JSON object.
// Of a repeated member the last one counts; other members are skipped.
std::optional<TextRequest> parseTextRequest(std::string_view message);

std::string formatText(std::string_view type, std::string_view payloadJson);
std::string formatSubscription(std::string_view type, std::string_view topic);
std::string formatPublication(std::string_view type, std::string_view topic,
                              std::string_view payloadJson);
std::string formatError(std::string_view words);
