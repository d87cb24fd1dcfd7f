// The handshake against the example of RFC 6455 and against answers that are no upgrade.

#include "handshake.h"

#include <set>

#include "check.h"

namespace {

// RFC 6455, 1.3.
const std::string KEY = "dGhlIHNhbXBsZSBub25jZQ==", ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

std::string answer(const std::string &upgrade, const std::string &connection,
                   const std::string &rest) {
    return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: " + upgrade +
           "\r\nConnection: " + connection + "\r\n" + rest + "\r\n";
}

auto checking(std::string text) {
    return [text] { checkAnswer(text, KEY); };
}

}  // namespace

int main() {
    CHECK(acceptFor(KEY) == ACCEPT);

    std::set<std::string> keys;
    for (int i = 0; i < 100; i++) keys.insert(newKey());
    CHECK(keys.size() == 100 && keys.begin()->size() == 24);

    std::string request = upgradeRequest("[::1]:80", "/ws", KEY);
    CHECK(request.starts_with("GET /ws HTTP/1.1\r\nHost: [::1]:80\r\n"));
    CHECK(request.ends_with("\r\nSec-WebSocket-Key: " + KEY + "\r\n\r\n"));

    std::string accept = "sec-websocket-ACCEPT:" + ACCEPT + " \r\n";
    std::string good = answer("WebSocket", "keep-alive, Upgrade", accept);
    for (size_t size = 0; size < good.size(); size++) CHECK(!checkAnswer(good.substr(0, size), KEY));
    CHECK(checkAnswer(good, KEY) == good.size());
    CHECK(checkAnswer(good + "\x82\x01x", KEY) == good.size());
    CHECK(checkAnswer("HTTP/1.1 101\r\n" + good.substr(good.find("\r\n") + 2), KEY).has_value());

    CHECK(throws<UpgradeRefused>("\"HTTP/1.1 404 Not Found\"",
                                 checking("HTTP/1.1 404 Not Found\r\n\r\n")));
    CHECK(throws<UpgradeRefused>("1011", checking("HTTP/1.1 1011 No\r\n\r\n")));
    CHECK(throws<UpgradeRefused>("no Upgrade", checking(answer("h2c", "Upgrade", accept))));
    CHECK(throws<UpgradeRefused>("no Connection", checking(answer("websocket", "close", accept))));
    CHECK(throws<UpgradeRefused>("no Sec-WebSocket-Accept",
                                 checking(answer("websocket", "Upgrade", ""))));
    CHECK(throws<UpgradeRefused>("twice",
                                 checking(answer("websocket", "Upgrade", accept + accept))));
    CHECK(throws<UpgradeRefused>(
        "not the one for this key",
        checking(answer("websocket", "Upgrade", "Sec-WebSocket-Accept: AAAA\r\n"))));
    CHECK(throws<UpgradeRefused>(
        "not asked for", checking(answer("websocket", "Upgrade",
                                         accept + "Sec-WebSocket-Extensions: x\r\n"))));
    CHECK(throws<UpgradeRefused>("no header", checking(answer("websocket", "Upgrade", "odd\r\n"))));
    CHECK(throws<UpgradeRefused>("16 KiB", checking(std::string(LONGEST_ANSWER + 1, 'x'))));
    std::puts("handshake: ok");
}
