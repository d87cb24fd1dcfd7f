#include "message.h"

#include "tally.h"

namespace {

constexpr size_t SIZE_AT = 1, STAMP_AT = 5, PADDING_AT = 13;

void putBigEndian(std::string &text, size_t at, size_t width, uint64_t value) {
    for (size_t i = 0; i < width; i++) {
        text[at + i] = static_cast<char>(value >> (8 * (width - 1 - i)));
    }
}

}  // namespace

Message::Message(size_t padding) : text_(PADDING_AT + padding, '\0') {
    text_[0] = 'b';
    putBigEndian(text_, SIZE_AT, 4, text_.size() - STAMP_AT);
    for (size_t i = 0; i < padding; i++) text_[PADDING_AT + i] = static_cast<char>('a' + i % 26);
}

std::string_view Message::request(uint64_t stamp) {
    putBigEndian(text_, STAMP_AT, 8, stamp);
    return text_;
}

Message::Read Message::read(std::string_view payload) const {
    if (payload.empty()) throw WrongMessage("the server sent an empty message");
    char type = payload[0];
    if (type != 'b' && type != 'r') {
        throw WrongMessage("the server sent a message of type byte " +
                           std::to_string(static_cast<unsigned char>(type)) +
                           ", neither a broadcast nor a result");
    }
    std::string_view sent = text_;
    if (payload.size() != sent.size() ||
        payload.substr(SIZE_AT, STAMP_AT - SIZE_AT) != sent.substr(SIZE_AT, STAMP_AT - SIZE_AT) ||
        payload.substr(PADDING_AT) != sent.substr(PADDING_AT)) {
        throw WrongMessage("the server changed a message on its way (" +
                           std::to_string(payload.size()) + " bytes, sent were " +
                           std::to_string(sent.size()) + ")");
    }
    uint64_t stamp = 0;
    for (size_t i = STAMP_AT; i < PADDING_AT; i++) {
        stamp = stamp << 8 | static_cast<unsigned char>(payload[i]);
    }
    return {type == 'r', stamp};
}
