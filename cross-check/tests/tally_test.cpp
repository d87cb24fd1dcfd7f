// The books of the broadcasts under way, and the message that carries their stamp.

#include "tally.h"

#include "check.h"
#include "message.h"

namespace {

constexpr uint32_t NONCE = 0xabcd'0123;

void completion() {
    Tally tally(NONCE);
    uint64_t stamp = tally.begin(1, 3, 1000);
    CHECK(stamp >> 32 == NONCE && tally.underWay() == 1);
    tally.delivered(1, stamp, 1500);
    tally.answered(1, stamp);
    tally.delivered(0, stamp, 4000);
    CHECK(!tally.finish(stamp));
    tally.delivered(2, stamp, 3000);
    CHECK(tally.finish(stamp) == 3000u);
    CHECK(tally.underWay() == 0 && !tally.finish(stamp));
    CHECK(tally.begin(0, 3, 0) == stamp + 1);
}

void aLateResultEndsItButDoesNotCount() {
    Tally tally(NONCE);
    uint64_t stamp = tally.begin(0, 1, 10);
    tally.delivered(0, stamp, 30);
    CHECK(!tally.finish(stamp));
    CHECK(tally.overdue(11) == "client 1 has had no result of broadcast 1");
    tally.answered(0, stamp);
    CHECK(tally.finish(stamp) == 20u);
}

void wrongs() {
    Tally tally(NONCE);
    uint64_t stamp = tally.begin(0, 2, 0);
    tally.delivered(1, stamp, 1);
    CHECK(throws<WrongMessage>("client 2 received broadcast 1 twice",
                               [&] { tally.delivered(1, stamp, 2); }));
    CHECK(throws<WrongMessage>("before it connected", [&] { tally.delivered(2, stamp, 2); }));
    CHECK(throws<WrongMessage>("which client 1 had sent", [&] { tally.answered(1, stamp); }));
    CHECK(throws<WrongMessage>("no broadcast of this run",
                               [&] { tally.delivered(0, stamp + 1, 2); }));
    CHECK(throws<WrongMessage>("no broadcast of this run", [&] { tally.delivered(0, 0, 2); }));
    tally.answered(0, stamp);
    CHECK(throws<WrongMessage>("twice", [&] { tally.answered(0, stamp); }));
    tally.delivered(0, stamp, 3);
    CHECK(tally.finish(stamp).has_value());
    CHECK(throws<WrongMessage>("after it was complete", [&] { tally.delivered(0, stamp, 4); }));
}

void overdue() {
    Tally tally(NONCE);
    uint64_t first = tally.begin(0, 3, 100);
    tally.begin(1, 3, 200);
    CHECK(!tally.overdue(100));
    tally.delivered(0, first, 150);
    CHECK(tally.overdue(201) ==
          "2 of 3 clients have not received broadcast 1, the first of them client 2, and client 1 "
          "has had no result of it");
}

void messages() {
    Message message(4);
    std::string sent(message.request(0x0102030405060708));
    CHECK(sent == std::string("b\0\0\0\x0c\1\2\3\4\5\6\7\10abcd", 17));
    Message::Read read = message.read(sent);
    CHECK(!read.isResult && read.stamp == 0x0102030405060708);
    std::string result = sent;
    result[0] = 'r';
    CHECK(message.read(result).isResult);
    for (size_t at : {1, 4, 13, 16}) {
        std::string changed = sent;
        changed[at] = static_cast<char>(changed[at] ^ 1);
        CHECK(throws<WrongMessage>("changed", [&] { message.read(changed); }));
    }
    CHECK(throws<WrongMessage>("changed", [&] { message.read(sent.substr(0, 16)); }));
    CHECK(throws<WrongMessage>("changed", [&] { message.read("b"); }));
    CHECK(throws<WrongMessage>("empty", [&] { message.read(""); }));
    CHECK(throws<WrongMessage>("type byte 101", [&] { message.read("echo"); }));
}

}  // namespace

int main() {
    completion();
    aLateResultEndsItButDoesNotCount();
    wrongs();
    overdue();
    messages();
    std::puts("tally: ok");
}
