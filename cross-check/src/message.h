// The binary dialect's broadcast: type byte, size, stamp, padding.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

class Message {
   public:
    explicit Message(size_t padding);

    // A request with this stamp; valid until the next call.
    std::string_view request(uint64_t stamp);

    struct Read {
        bool isResult;
        uint64_t stamp;
    };

    // Compares all of a message with what was sent. Throws WrongMessage.
    Read read(std::string_view payload) const;

    // Bytes of a message.
    size_t size() const { return text_.size(); }

   private:
    std::string text_;
};
