// The opening handshake as a client does it (RFC 6455, 4.1). Bytes in and out, no I/O.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

// The server's answer is not the upgrade that was asked for; what() says why.
struct UpgradeRefused : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The longest answer that is read to its end, in bytes.
constexpr size_t LONGEST_ANSWER = 16 * 1024;

// 16 random bytes in base64.
std::string newKey();

// What Sec-WebSocket-Accept has to be for this key (4.2.2, 5.4).
std::string acceptFor(std::string_view key);

// The request; `host` is HOST:PORT, an IPv6 address in brackets.
std::string upgradeRequest(std::string_view host, std::string_view path, std::string_view key);

// Checks the answer once it is whole. Returns its length, beyond which frames may follow already,
// or nothing while more of it is to come. Throws UpgradeRefused.
std::optional<size_t> checkAnswer(std::string_view answer, std::string_view key);
