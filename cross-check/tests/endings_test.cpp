// cpp-bench itself against servers that go wrong: one clear line and the exit code of --help.

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <functional>
#include <thread>

#include "check.h"
#include "frames.h"
#include "handshake.h"

namespace {

struct Outcome {
    int code;
    std::string out, err;
};

Outcome run(const std::string &arguments) {
    const char *program = std::getenv("CPP_BENCH");
    CHECK(program != nullptr);
    char errors[] = "/tmp/cpp-bench-test-XXXXXX";
    int fd = mkstemp(errors);
    CHECK(fd >= 0);
    FILE *pipe = popen((std::string(program) + " " + arguments + " 2>" + errors).c_str(), "r");
    CHECK(pipe != nullptr);
    Outcome outcome{};
    std::array<char, 4096> buffer;
    size_t size;
    while ((size = fread(buffer.data(), 1, buffer.size(), pipe)) > 0) {
        outcome.out.append(buffer.data(), size);
    }
    int status = pclose(pipe);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    ssize_t read;
    while ((read = ::read(fd, buffer.data(), buffer.size())) > 0) {
        outcome.err.append(buffer.data(), static_cast<size_t>(read));
    }
    close(fd);
    unlink(errors);
    return outcome;
}

bool oneLineWith(const std::string &text, const std::string &part) {
    bool good = text.starts_with("cpp-bench: ") && text.find('\n') == text.size() - 1 &&
                text.find(part) != std::string::npos;
    if (!good) std::fprintf(stderr, "printed: %s\n", text.c_str());
    return good;
}

// A server for one connection after the other.
class Server {
   public:
    using Script = std::function<void(int socket, const std::string &request)>;

    explicit Server(Script script) {
        listener_ = socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto *generic = reinterpret_cast<sockaddr *>(&address);
        CHECK(bind(listener_, generic, sizeof address) == 0 && listen(listener_, 16) == 0);
        socklen_t length = sizeof address;
        CHECK(getsockname(listener_, generic, &length) == 0);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this, script] { serve(script); });
    }

    ~Server() {
        shutdown(listener_, SHUT_RDWR);
        thread_.join();
        close(listener_);
    }

    std::string address() const {
        return "--address 127.0.0.1 --port " + std::to_string(port_) + " ";
    }

   private:
    void serve(const Script &script) {
        int socket;
        while ((socket = accept(listener_, nullptr, nullptr)) >= 0) {
            std::string request;
            char byte;
            while (!request.ends_with("\r\n\r\n") && recv(socket, &byte, 1, 0) == 1) {
                request += byte;
            }
            script(socket, request);
            close(socket);
        }
    }

    int listener_, port_;
    std::thread thread_;
};

void put(int socket, const std::string &bytes) {
    CHECK(send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(bytes.size()));
}

std::string frame(int firstByte, const std::string &payload) {
    return std::string{static_cast<char>(firstByte), static_cast<char>(payload.size())} + payload;
}

void upgrade(int socket, const std::string &request, const std::string &rest = "") {
    const std::string NAME = "Sec-WebSocket-Key: ";
    size_t at = request.find(NAME) + NAME.size();
    std::string key = request.substr(at, request.find("\r\n", at) - at);
    put(socket,
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Accept: " +
            acceptFor(key) + "\r\n\r\n" + rest);
}

// The next frame of the client, unmasked; its first byte in `first`. Empty at the end.
std::string receive(int socket, int &first) {
    unsigned char head[6];
    first = -1;
    if (recv(socket, head, sizeof head, MSG_WAITALL) != static_cast<ssize_t>(sizeof head)) return "";
    first = head[0];
    CHECK(head[1] & 0x80);
    std::string payload(head[1] & 0x7f, '\0');
    if (!payload.empty()) recv(socket, payload.data(), payload.size(), MSG_WAITALL);
    for (size_t i = 0; i < payload.size(); i++) {
        payload[i] = static_cast<char>(payload[i] ^ static_cast<char>(head[2 + i % 4]));
    }
    return payload;
}

std::string asResult(std::string message) {
    message[0] = 'r';
    return message;
}

const std::string ONE = "--step-size 1 -c 1 -s 3 --payload-padding 8 --total-steps 1 ";

void answering(int socket, const std::string &request) {
    upgrade(socket, request);
    int first;
    for (std::string message; !(message = receive(socket, first)).empty();) {
        // In pieces, and with a ping between the fragments, as any server may send it.
        std::string bytes = frame(0x02, message.substr(0, 3)) + frame(0x89, "are you there") +
                            frame(0x80, message.substr(3)) + frame(0x82, asResult(message));
        for (char byte : bytes) put(socket, std::string(1, byte));
        CHECK(receive(socket, first) == "are you there" && first == 0x8a);
    }
}

void measured() {
    Server server(answering);
    char file[] = "/tmp/cpp-bench-test-XXXXXX";
    close(mkstemp(file));
    Outcome outcome = run(server.address() + ONE + "--json " + file);
    CHECK(outcome.code == 0 && outcome.err.empty());
    CHECK(outcome.out.starts_with("clients:     1    95per-rtt: "));
    CHECK(outcome.out.find("    median-rtt: ") != std::string::npos);
    FILE *json = fopen(file, "r");
    char text[512] = "";
    CHECK(json && fgets(text, sizeof text, json));
    fclose(json);
    unlink(file);
    CHECK(std::strstr(text, "{\"clients\":1,\"samples\":3,\"limit_percentile\":95,"));
    outcome = run(server.address() + ONE + "--json /nowhere/at/all");
    CHECK(outcome.code == 1 && oneLineWith(outcome.err, "/nowhere/at/all"));
    outcome = run(server.address() + ONE + "--limit-rtt 1us");
    CHECK(outcome.code == 0 && outcome.out.ends_with("    over the limit\n"));
}

void refusedConnection() {
    int port;
    {
        // Bound and never listening: nobody else can take the port while it is tried.
        int unheard = socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto *generic = reinterpret_cast<sockaddr *>(&address);
        socklen_t length = sizeof address;
        CHECK(bind(unheard, generic, length) == 0);
        CHECK(getsockname(unheard, generic, &length) == 0);
        port = ntohs(address.sin_port);
        Outcome outcome = run("--port " + std::to_string(port));
        CHECK(outcome.code == 1 && oneLineWith(outcome.err, "connection refused); is the server"));
        close(unheard);
    }
    Outcome outcome = run("--address no.such.host.invalid");
    CHECK(outcome.code == 1 && oneLineWith(outcome.err, "no.such.host.invalid"));
}

void refusedUpgrade() {
    struct Case {
        const char *answer, *says;
    };
    for (const Case &one :
         {Case{"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", "403 Forbidden"},
          Case{"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
               "not the one for this key"},
          Case{"", "ended the connection"}}) {
        Server server([&](int socket, const std::string &) { put(socket, one.answer); });
        Outcome outcome = run(server.address() + ONE);
        CHECK(outcome.code == 1 && outcome.out.empty() && oneLineWith(outcome.err, one.says));
    }
    Server silent([](int socket, const std::string &) {
        pollfd waiting{socket, POLLIN, 0};
        poll(&waiting, 1, 10'000);
    });
    Outcome outcome = run(silent.address() + ONE + "--connect-timeout 200ms");
    CHECK(outcome.code == 1 && oneLineWith(outcome.err, "client 1: not ready within 0.2 s"));
}

// The first request is answered with these bytes.
void invalid(const std::function<std::string(const std::string &)> &reply, const char *says) {
    Server server([&](int socket, const std::string &request) {
        upgrade(socket, request);
        int first;
        std::string message = receive(socket, first);
        CHECK(message.size() == 21 && message[0] == 'b');
        put(socket, reply(message));
        receive(socket, first);
    });
    Outcome outcome = run(server.address() + ONE + "--sample-timeout 300ms");
    CHECK(outcome.code == 3 && outcome.out.empty() && oneLineWith(outcome.err, says));
}

void lostAndWrong() {
    invalid([](auto &) { return ""; }, "lost: after 0.3 s 1 of 1 clients");
    invalid([](auto &m) { return frame(0x82, m); }, "has had no result of broadcast 1");
    invalid([](auto &m) { return frame(0x82, m) + frame(0x82, m); }, "broadcast 1 twice");
    invalid([](auto &) { return frame(0x88, "\x03\xf0overload"); }, "with code 1008 (overload)");
    invalid([](auto &m) { return frame(0x81, m); }, "text in place of a binary message");
    invalid([](auto &m) { return frame(0x82, m.substr(0, 20)); }, "changed a message");
    invalid([](auto &m) { return frame(0xc2, m); }, "reserved bit");
    // At the very end of the last step, when every sample is complete.
    Server late([](int socket, const std::string &request) {
        upgrade(socket, request);
        int first;
        std::string message;
        for (int i = 0; i < 3; i++) {
            message = receive(socket, first);
            put(socket, frame(0x82, message) + frame(0x82, asResult(message)));
        }
        put(socket, frame(0x82, message));
        receive(socket, first);
    });
    Outcome outcome = run(late.address() + ONE);
    CHECK(outcome.code == 3 && oneLineWith(outcome.err, "once more, after it was complete"));
}

void endedConnections() {
    for (bool reset : {false, true}) {
        Server server([&](int socket, const std::string &request) {
            upgrade(socket, request);
            int first;
            receive(socket, first);
            linger now{1, 0};
            if (reset) setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        });
        Outcome outcome = run(server.address() + ONE);
        CHECK(outcome.code == 3);
        CHECK(oneLineWith(outcome.err, reset ? "connection reset" : "ended the connection"));
    }
}

void wrongUsage() {
    struct Case {
        const char *arguments, *says;
    };
    for (const Case &one : {Case{"--concurrent 0", "--concurrent"}, Case{"--port x", "--port"},
                            Case{"--limit-rtt 5", "--limit-rtt"}, Case{"--path x", "--path"},
                            Case{"--limit-percentile 101", "--limit-percentile"},
                            Case{"--sample-size", "needs a value"}, Case{"--odd", "--odd"},
                            Case{"odd", "odd"}, Case{"-cx", "--concurrent"}}) {
        Outcome outcome = run(one.arguments);
        CHECK(outcome.code == 1 && oneLineWith(outcome.err, one.says));
    }
    Outcome help = run("--help");
    CHECK(help.code == 0 && help.err.empty());
    for (const char *flag :
         {"--concurrent", "--sample-size", "--initial-clients", "--step-size", "--payload-padding",
          "--address", "--port", "--path", "--limit-percentile", "--limit-rtt"}) {
        CHECK(help.out.find(flag) != std::string::npos);
    }
}

}  // namespace

int main() {
    measured();
    refusedConnection();
    refusedUpgrade();
    lostAndWrong();
    endedConnections();
    wrongUsage();
    std::puts("endings: ok");
}
