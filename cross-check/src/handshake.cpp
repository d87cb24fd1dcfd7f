#include "handshake.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <strings.h>

#include <array>
#include <cctype>

namespace {

constexpr std::string_view GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

std::string base64(const unsigned char *bytes, size_t size) {
    std::string text(4 * ((size + 2) / 3) + 1, '\0');
    int length = EVP_EncodeBlock(reinterpret_cast<unsigned char *>(text.data()), bytes,
                                 static_cast<int>(size));
    text.resize(static_cast<size_t>(length));
    return text;
}

bool same(std::string_view a, std::string_view b) {
    return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view BLANKS = " \t";
    size_t first = text.find_first_not_of(BLANKS);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(BLANKS) - first + 1);
}

bool listHolds(std::string_view list, std::string_view token) {
    while (true) {
        size_t comma = list.find(',');
        if (same(trimmed(list.substr(0, comma)), token)) return true;
        if (comma == std::string_view::npos) return false;
        list.remove_prefix(comma + 1);
    }
}

// For a message to people: a server's bytes may hold anything.
std::string shown(std::string_view text) {
    std::string out;
    for (char c : text.substr(0, 80)) {
        out += std::isprint(static_cast<unsigned char>(c)) ? c : '?';
    }
    return out;
}

}  // namespace

std::string newKey() {
    std::array<unsigned char, 16> bytes;
    if (RAND_bytes(bytes.data(), bytes.size()) != 1) {
        throw std::runtime_error("no random bytes for the handshake");
    }
    return base64(bytes.data(), bytes.size());
}

std::string acceptFor(std::string_view key) {
    std::string text = std::string(key) + std::string(GUID);
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
    unsigned size = 0;
    if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr) != 1) {
        throw std::runtime_error("libcrypto has no SHA-1, which the handshake needs");
    }
    return base64(digest.data(), size);
}

std::string upgradeRequest(std::string_view host, std::string_view path, std::string_view key) {
    std::string request = "GET ";
    request.append(path).append(" HTTP/1.1\r\nHost: ").append(host);
    request.append(
        "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13"
        "\r\nSec-WebSocket-Key: ");
    return request.append(key).append("\r\n\r\n");
}

std::optional<size_t> checkAnswer(std::string_view answer, std::string_view key) {
    size_t end = answer.find("\r\n\r\n");
    if (end == std::string_view::npos) {
        if (answer.size() > LONGEST_ANSWER) {
            throw UpgradeRefused("the answer to the upgrade does not end within 16 KiB");
        }
        return std::nullopt;
    }
    std::string_view head = answer.substr(0, end);
    size_t line = head.find("\r\n");
    std::string_view status = head.substr(0, line);
    if (!status.starts_with("HTTP/1.1 101") || (status.size() > 12 && status[12] != ' ')) {
        throw UpgradeRefused("the server answered \"" + shown(status) +
                             "\" in place of 101 Switching Protocols");
    }
    bool upgrade = false, connection = false;
    std::optional<std::string_view> accept;
    while (line != std::string_view::npos) {
        head.remove_prefix(line + 2);
        line = head.find("\r\n");
        std::string_view field = head.substr(0, line);
        size_t colon = field.find(':');
        if (colon == std::string_view::npos) {
            throw UpgradeRefused("the answer has a line that is no header: \"" + shown(field) +
                                 "\"");
        }
        std::string_view name = field.substr(0, colon), value = trimmed(field.substr(colon + 1));
        if (same(name, "Upgrade")) upgrade = upgrade || listHolds(value, "websocket");
        if (same(name, "Connection")) connection = connection || listHolds(value, "upgrade");
        if (same(name, "Sec-WebSocket-Accept")) {
            if (accept) throw UpgradeRefused("the answer has Sec-WebSocket-Accept twice");
            accept = value;
        }
        if (same(name, "Sec-WebSocket-Extensions") || same(name, "Sec-WebSocket-Protocol")) {
            throw UpgradeRefused("the answer has " + shown(name) + ", which was not asked for");
        }
    }
    if (!upgrade) throw UpgradeRefused("the answer has no Upgrade: websocket");
    if (!connection) throw UpgradeRefused("the answer has no Connection: Upgrade");
    if (!accept) throw UpgradeRefused("the answer has no Sec-WebSocket-Accept");
    if (*accept != acceptFor(key)) {
        throw UpgradeRefused("Sec-WebSocket-Accept is \"" + shown(*accept) +
                             "\", which is not the one for this key");
    }
    return end + 4;
}
