// Frames as a client reads and writes them (RFC 6455, 5). Bytes in and out, no I/O.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

enum class Opcode : uint8_t {
    continuation = 0,
    text = 1,
    binary = 2,
    close = 8,
    ping = 9,
    pong = 10,
};

// The server broke RFC 6455; what() says how.
struct ProtocolError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// What a reader hands on: whole messages, and control frames as they come between.
class FrameSink {
   public:
    // `text` or `binary`; the payload is valid during the call.
    virtual void message(Opcode opcode, std::string_view payload) = 0;
    // `close`, `ping` or `pong`.
    virtual void control(Opcode opcode, std::string_view payload) = 0;

   protected:
    ~FrameSink() = default;
};

// Puts frames and messages together again, wherever reads and fragments cut them. A frame that
// lies whole in one read is not copied. After a ProtocolError the reader is of no more use.
class FrameReader {
   public:
    // Messages above `largest` bytes are an error.
    explicit FrameReader(uint64_t largest) : largest_(largest) {}

    // Takes the next bytes of the connection. Throws ProtocolError.
    void feed(std::string_view bytes, FrameSink &sink);

    // Nothing of a frame or message is under way.
    bool idle() const { return pending_.empty() && !fragmented_; }

   private:
    // Handles the frame at the start; returns its length, 0 while it is not whole.
    size_t take(std::string_view bytes, FrameSink &sink);
    void data(Opcode opcode, bool final, std::string_view payload, FrameSink &sink);

    uint64_t largest_;
    std::string pending_;    // the start of a frame
    std::string fragments_;  // the start of a fragmented message
    Opcode kind_ = Opcode::binary;
    bool fragmented_ = false;
};

// Appends a final frame with this payload, masked with this key.
void appendFrame(std::string &out, Opcode opcode, std::string_view payload, uint32_t mask);

// Code and reason of a close frame, as people read them. Throws ProtocolError.
std::string describeClose(std::string_view payload);
