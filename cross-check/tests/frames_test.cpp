// The frame reader against every way to cut the bytes, and against what a server may not send.

#include "frames.h"

#include <random>
#include <vector>

#include "check.h"

namespace {

constexpr uint64_t LARGEST = 1 << 20;

// What was handed on, as text: `binary:abc`, `ping:x`.
struct Log final : FrameSink {
    std::vector<std::string> seen;
    void message(Opcode opcode, std::string_view payload) override {
        seen.push_back((opcode == Opcode::text ? "text:" : "binary:") + std::string(payload));
    }
    void control(Opcode opcode, std::string_view payload) override {
        const char *name = opcode == Opcode::close  ? "close:"
                           : opcode == Opcode::ping ? "ping:"
                                                    : "pong:";
        seen.push_back(name + std::string(payload));
    }
};

// A frame as a server sends it; written apart from appendFrame, which masks.
std::string frame(int firstByte, const std::string &payload) {
    std::string out(1, static_cast<char>(firstByte));
    size_t size = payload.size();
    if (size < 126) {
        out += static_cast<char>(size);
    } else if (size < 65536) {
        out += static_cast<char>(126);
        out += static_cast<char>(size >> 8);
        out += static_cast<char>(size);
    } else {
        out += static_cast<char>(127);
        for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(size >> shift);
    }
    return out + payload;
}

// Messages of every length form, fragments with control frames between, empty ones.
std::string conversation(std::vector<std::string> &expected, size_t longest) {
    std::string large(longest, 'L'), middle(300, 'M');
    expected = {"binary:abc", "text:",   "ping:p1",  "binary:" + middle, "binary:onetwo3",
                "pong:",      "binary:", "binary:x", "binary:" + large,  "close:\x03\xe8"};
    return frame(0x82, "abc") + frame(0x81, "") + frame(0x89, "p1") + frame(0x82, middle) +
           frame(0x02, "one") + frame(0x00, "two") + frame(0x80, "3") + frame(0x8a, "") +
           frame(0x02, "") + frame(0x80, "") + frame(0x02, "x") + frame(0x80, "") +
           frame(0x82, large) + frame(0x88, "\x03\xe8");
}

void inOneRead() {
    std::vector<std::string> expected;
    std::string bytes = conversation(expected, 70'000);
    FrameReader reader(LARGEST);
    Log log;
    reader.feed(bytes, log);
    CHECK(log.seen == expected);
    CHECK(reader.idle());
}

void byteByByte() {
    std::vector<std::string> expected;
    std::string bytes = conversation(expected, 70'000);
    FrameReader reader(LARGEST);
    Log log;
    for (char byte : bytes) reader.feed({&byte, 1}, log);
    CHECK(log.seen == expected);
    CHECK(reader.idle());
}

void cutAtEveryPlace() {
    std::vector<std::string> expected;
    std::string bytes = conversation(expected, 200);
    for (size_t cut = 0; cut <= bytes.size(); cut++) {
        FrameReader reader(LARGEST);
        Log log;
        reader.feed(std::string_view(bytes).substr(0, cut), log);
        reader.feed(std::string_view(bytes).substr(cut), log);
        CHECK(log.seen == expected);
    }
}

void cutAtRandom() {
    std::vector<std::string> expected;
    std::string bytes = conversation(expected, 70'000);
    for (unsigned seed = 0; seed < 200; seed++) {
        std::mt19937 random(seed);
        FrameReader reader(LARGEST);
        Log log;
        for (size_t at = 0; at < bytes.size();) {
            size_t size = std::min<size_t>(1 + random() % 5000, bytes.size() - at);
            // A copy of its own, so that reading beyond it is seen by a sanitizer.
            std::string part = bytes.substr(at, size);
            reader.feed(part, log);
            at += size;
        }
        CHECK(log.seen == expected);
        CHECK(reader.idle());
    }
}

void refused() {
    auto feeding = [](std::string bytes) {
        return [bytes] {
            FrameReader reader(1000);
            Log log;
            reader.feed(bytes, log);
        };
    };
    std::string masked;
    appendFrame(masked, Opcode::binary, "abc", 7);
    CHECK(throws<ProtocolError>("masked", feeding(masked)));
    CHECK(throws<ProtocolError>("reserved bit", feeding(frame(0xc2, "a"))));
    CHECK(throws<ProtocolError>("reserved opcode", feeding(frame(0x83, "a"))));
    CHECK(throws<ProtocolError>("control frame", feeding(frame(0x8b, std::string(126, 'a')))));
    CHECK(throws<ProtocolError>("control frame", feeding(frame(0x09, "a"))));
    CHECK(throws<ProtocolError>("control frame", feeding(frame(0x89, std::string(126, 'a')))));
    CHECK(throws<ProtocolError>("without a message", feeding(frame(0x80, "a"))));
    CHECK(throws<ProtocolError>("within a fragmented",
                                feeding(frame(0x02, "a") + frame(0x82, "b"))));
    CHECK(throws<ProtocolError>("longer", feeding(frame(0x82, std::string(1001, 'a')))));
    CHECK(throws<ProtocolError>("longer", feeding(frame(0x02, std::string(600, 'a')) +
                                                  frame(0x80, std::string(401, 'b')))));
    CHECK(throws<ProtocolError>("shortest", feeding(std::string("\x82\x7e\x00\x7d", 4))));
    std::string eight("\x82\x7f\x00\x00\x00\x00\x00\x00\xff\xff", 10);
    CHECK(throws<ProtocolError>("shortest", feeding(eight)));
    // Refused by its head alone: a server could announce what never fits into memory.
    std::string endless("\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff", 10);
    CHECK(throws<ProtocolError>("longer", feeding(endless)));
}

void written() {
    for (size_t size : {0, 1, 125, 126, 65'535, 65'536}) {
        std::string payload(size, 'z'), out;
        if (size) payload[size / 2] = 'y';
        appendFrame(out, Opcode::binary, payload, 0x01020304);
        size_t head = size < 126 ? 2 : size < 65536 ? 4 : 10;
        CHECK(out.size() == head + 4 + size);
        CHECK(static_cast<uint8_t>(out[0]) == 0x82 && (out[1] & 0x80));
        CHECK(out.substr(head, 4) == "\x01\x02\x03\x04");
        std::string plain = frame(0x82, payload);
        CHECK(out.substr(1, head - 1) ==
              std::string(1, static_cast<char>(plain[1] | 0x80)) + plain.substr(2, head - 2));
        for (size_t i = 0; i < size; i++) {
            CHECK((out[head + 4 + i] ^ out[head + i % 4]) == payload[i]);
        }
    }
}

void closes() {
    CHECK(describeClose("") == "without a code");
    CHECK(describeClose("\x03\xf0") == "with code 1008");
    CHECK(describeClose("\x03\xf0go\n") == "with code 1008 (go?)");
    CHECK(throws<ProtocolError>("one byte", [] { describeClose("x"); }));
}

}  // namespace

int main() {
    inOneRead();
    byteByByte();
    cutAtEveryPlace();
    cutAtRandom();
    refused();
    written();
    closes();
    std::puts("frames: ok");
}
