// One connection to the server: connect, upgrade, messages in and out.
#pragma once

#include <uv.h>

#include <string>
#include <string_view>

#include "frames.h"

class Client;

// How a client ended.
enum class Ending {
    machineLimit,  // this machine gives no socket or port
    notConnected,  // refused, not upgraded, or lost before it was ready
    lost,          // the connection ended
    wrong,         // the server sent what the protocol does not allow
};

class ClientOwner {
   public:
    virtual void ready(Client &client) = 0;
    // A whole binary message; `readNs` is when its last bytes were read.
    virtual void received(Client &client, std::string_view payload, uint64_t readNs) = 0;
    // The client is of no more use.
    virtual void ended(Client &client, Ending ending, const std::string &why) = 0;

   protected:
    ~ClientOwner() = default;
};

// Where all clients connect to.
struct Target {
    sockaddr_storage address;
    std::string name;  // HOST:PORT
    std::string path;
};

class Client : FrameSink {
   public:
    Client(uv_loop_t *loop, ClientOwner &owner, const Target &target, size_t number,
           uint64_t largestMessage);
    Client(const Client &) = delete;

    void connect();
    // Only when ready.
    void send(std::string_view payload);
    // Hands on nothing from here on.
    void silence() { silent_ = true; }

    size_t number() const { return number_; }
    bool isReady() const { return state_ == State::ready; }
    uint64_t connectingSinceNs() const { return beganNs_; }

   private:
    enum class State { connecting, upgrading, ready };

    void message(Opcode opcode, std::string_view payload) override;
    void control(Opcode opcode, std::string_view payload) override;

    void connected(int status);
    void read(ssize_t size, std::string_view bytes);
    void upgrade(std::string_view bytes);
    void write(std::string_view bytes);
    void end(Ending ending, const std::string &why);
    void endWith(const char *what, int error);
    uint32_t nextMask();

    uv_tcp_t tcp_;
    uv_connect_t connecting_;
    ClientOwner &owner_;
    const Target &target_;
    FrameReader reader_;
    std::string key_, answer_, out_;
    size_t number_;
    uint64_t beganNs_ = 0, readNs_ = 0, mask_;
    State state_ = State::connecting;
    bool silent_ = false;
};
