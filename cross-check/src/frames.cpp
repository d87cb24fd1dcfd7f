#include "frames.h"

#include <algorithm>

namespace {

constexpr uint8_t FINAL = 0x80, RESERVED = 0x70, OPCODE = 0x0f, MASKED = 0x80, LENGTH = 0x7f;
constexpr size_t LONGEST_CONTROL = 125;

struct Head {
    bool final;
    Opcode opcode;
    size_t size;      // of the head itself
    uint64_t length;  // of the payload
};

uint64_t bigEndian(std::string_view bytes) {
    uint64_t value = 0;
    for (char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
    return value;
}

// False while the head is not whole.
bool readHead(std::string_view bytes, Head &head) {
    if (bytes.size() < 2) return false;
    auto first = static_cast<uint8_t>(bytes[0]), second = static_cast<uint8_t>(bytes[1]);
    if (first & RESERVED) throw ProtocolError("a frame has a reserved bit set");
    if (second & MASKED) throw ProtocolError("a frame of the server is masked");
    head.final = first & FINAL;
    head.opcode = static_cast<Opcode>(first & OPCODE);
    uint8_t length = second & LENGTH;
    size_t extended = length == 126 ? 2 : length == 127 ? 8 : 0;
    head.size = 2 + extended;
    if (bytes.size() < head.size) return false;
    head.length = extended ? bigEndian(bytes.substr(2, extended)) : length;
    if ((extended == 2 && head.length < 126) || (extended == 8 && head.length < 65536)) {
        throw ProtocolError("the length of a frame is not in its shortest form");
    }
    return true;
}

}  // namespace

void FrameReader::feed(std::string_view bytes, FrameSink &sink) {
    if (!pending_.empty()) {
        pending_.append(bytes);
        bytes = pending_;
    }
    size_t done = 0;
    while (size_t length = take(bytes.substr(done), sink)) done += length;
    if (bytes.data() == pending_.data()) {
        pending_.erase(0, done);
    } else {
        pending_.assign(bytes.substr(done));
    }
}

size_t FrameReader::take(std::string_view bytes, FrameSink &sink) {
    Head head;
    if (!readHead(bytes, head)) return 0;
    bool isControl = head.opcode >= Opcode::close;
    if (isControl && (head.length > LONGEST_CONTROL || !head.final)) {
        throw ProtocolError("a control frame is fragmented or longer than 125 bytes");
    }
    if (!isControl && head.length > largest_ - std::min<uint64_t>(largest_, fragments_.size())) {
        throw ProtocolError("a message is longer than any that was sent");
    }
    if (bytes.size() - head.size < head.length) return 0;
    std::string_view payload = bytes.substr(head.size, head.length);
    switch (head.opcode) {
        case Opcode::close:
        case Opcode::ping:
        case Opcode::pong: sink.control(head.opcode, payload); break;
        case Opcode::continuation:
        case Opcode::text:
        case Opcode::binary: data(head.opcode, head.final, payload, sink); break;
        default: throw ProtocolError("a frame has a reserved opcode");
    }
    return head.size + head.length;
}

void FrameReader::data(Opcode opcode, bool final, std::string_view payload, FrameSink &sink) {
    if ((opcode == Opcode::continuation) != fragmented_) {
        throw ProtocolError(fragmented_ ? "a new message begins within a fragmented one"
                                        : "a continuation without a message");
    }
    if (final && !fragmented_) return sink.message(opcode, payload);
    if (!fragmented_) {
        kind_ = opcode;
        fragmented_ = true;
    }
    fragments_.append(payload);
    if (!final) return;
    fragmented_ = false;
    std::string whole;
    whole.swap(fragments_);
    sink.message(kind_, whole);
}

void appendFrame(std::string &out, Opcode opcode, std::string_view payload, uint32_t mask) {
    out += static_cast<char>(FINAL | static_cast<uint8_t>(opcode));
    size_t extended = payload.size() < 126 ? 0 : payload.size() < 65536 ? 2 : 8;
    size_t length = extended == 0 ? payload.size() : extended == 2 ? 126 : 127;
    out += static_cast<char>(MASKED | length);
    for (size_t i = extended; i-- > 0;) out += static_cast<char>(payload.size() >> (8 * i));
    char key[4];
    for (size_t i = 0; i < 4; i++) key[i] = static_cast<char>(mask >> (8 * (3 - i)));
    out.append(key, 4);
    for (size_t i = 0; i < payload.size(); i++) {
        out += static_cast<char>(payload[i] ^ key[i % 4]);
    }
}

std::string describeClose(std::string_view payload) {
    if (payload.empty()) return "without a code";
    if (payload.size() == 1) throw ProtocolError("a close frame has a code of one byte");
    std::string text = "with code " + std::to_string(bigEndian(payload.substr(0, 2)));
    if (payload.size() > 2) {
        text += " (";
        for (char c : payload.substr(2)) text += c >= ' ' && c < 0x7f ? c : '?';
        text += ")";
    }
    return text;
}
