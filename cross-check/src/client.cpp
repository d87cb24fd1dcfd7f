#include "client.h"

#include <memory>

#include "handshake.h"
#include "tally.h"

namespace {

// libuv hands bytes over before it asks for the next buffer, so that one does for all clients.
char receiveBuffer[256 * 1024];

bool isMachineLimit(int error) {
    return error == UV_EMFILE || error == UV_ENFILE || error == UV_ENOBUFS ||
           error == UV_ENOMEM || error == UV_EADDRNOTAVAIL;
}

std::string remedy(int error) {
    if (error == UV_EMFILE) return "; raise the limit with `ulimit -Hn` as root";
    if (error == UV_EADDRNOTAVAIL) return "; widen net.ipv4.ip_local_port_range with sysctl";
    if (error == UV_ECONNREFUSED) return "; is the server running?";
    return "";
}

struct Write {
    uv_write_t request;
    std::string bytes;
};

}  // namespace

Client::Client(uv_loop_t *loop, ClientOwner &owner, const Target &target, size_t number,
               uint64_t largestMessage)
    : owner_(owner),
      target_(target),
      reader_(largestMessage),
      key_(newKey()),
      number_(number),
      mask_(uv_hrtime() ^ number) {
    uv_tcp_init(loop, &tcp_);
    tcp_.data = this;
    connecting_.data = this;
}

void Client::connect() {
    beganNs_ = uv_hrtime();
    int error = uv_tcp_connect(&connecting_, &tcp_,
                               reinterpret_cast<const sockaddr *>(&target_.address),
                               [](uv_connect_t *request, int status) {
                                   static_cast<Client *>(request->data)->connected(status);
                               });
    if (error) endWith("connecting", error);
}

void Client::connected(int status) {
    if (silent_) return;
    if (status) return endWith("connecting", status);
    uv_tcp_nodelay(&tcp_, 1);
    state_ = State::upgrading;
    int error = uv_read_start(
        reinterpret_cast<uv_stream_t *>(&tcp_),
        [](uv_handle_t *, size_t, uv_buf_t *buffer) {
            *buffer = uv_buf_init(receiveBuffer, sizeof receiveBuffer);
        },
        [](uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer) {
            auto length = static_cast<size_t>(size > 0 ? size : 0);
            static_cast<Client *>(stream->data)->read(size, {buffer->base, length});
        });
    if (error) return endWith("reading", error);
    write(upgradeRequest(target_.name, target_.path, key_));
}

void Client::read(ssize_t size, std::string_view bytes) {
    if (silent_ || size == 0) return;
    if (size == UV_EOF) return end(Ending::lost, "the server ended the connection");
    if (size < 0) return endWith("reading", static_cast<int>(size));
    readNs_ = uv_hrtime();
    // An exception must not pass through libuv, which is C.
    try {
        if (state_ == State::ready) {
            reader_.feed(bytes, *this);
        } else {
            upgrade(bytes);
        }
    } catch (const UpgradeRefused &refused) {
        end(Ending::notConnected, refused.what());
    } catch (const ProtocolError &error) {
        end(Ending::wrong, std::string("the server broke RFC 6455: ") + error.what());
    } catch (const WrongMessage &wrong) {
        end(Ending::wrong, wrong.what());
    }
}

void Client::upgrade(std::string_view bytes) {
    answer_.append(bytes);
    std::optional<size_t> length = checkAnswer(answer_, key_);
    if (!length) return;
    state_ = State::ready;
    std::string rest = answer_.substr(*length);
    std::string().swap(answer_);
    std::string().swap(key_);
    owner_.ready(*this);
    if (!silent_ && !rest.empty()) reader_.feed(rest, *this);
}

void Client::message(Opcode opcode, std::string_view payload) {
    if (silent_) return;
    if (opcode == Opcode::text) {
        throw WrongMessage("the server sent text in place of a binary message: " +
                           std::string(payload.substr(0, 80)));
    }
    owner_.received(*this, payload, readNs_);
}

void Client::control(Opcode opcode, std::string_view payload) {
    if (silent_ || opcode == Opcode::pong) return;
    bool isClose = opcode == Opcode::close;
    std::string how = isClose ? describeClose(payload) : "";
    out_.clear();
    // A close is answered with its own code (5.5.1), a ping with its own payload (5.5.2).
    appendFrame(out_, isClose ? Opcode::close : Opcode::pong,
                isClose ? payload.substr(0, 2) : payload, nextMask());
    write(out_);
    if (isClose && !silent_) end(Ending::lost, "the server closed the connection " + how);
}

void Client::send(std::string_view payload) {
    out_.clear();
    appendFrame(out_, Opcode::binary, payload, nextMask());
    write(out_);
}

// A step of splitmix64: other programs on the way must not be able to guess the bytes of a frame
// (RFC 6455, 10.3), for which a load generator needs no more than bits that change.
uint32_t Client::nextMask() {
    uint64_t mixed = mask_ += 0x9e37'79b9'7f4a'7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58'476d'1ce4'e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d0'49bb'1331'11eb;
    return static_cast<uint32_t>(mixed ^ mixed >> 31);
}

void Client::write(std::string_view bytes) {
    auto *stream = reinterpret_cast<uv_stream_t *>(&tcp_);
    uv_buf_t buffer =
        uv_buf_init(const_cast<char *>(bytes.data()), static_cast<unsigned>(bytes.size()));
    int written = uv_try_write(stream, &buffer, 1);
    if (written < 0 && written != UV_EAGAIN) return endWith("writing", written);
    auto done = static_cast<size_t>(written > 0 ? written : 0);
    if (done == bytes.size()) return;
    auto rest = std::make_unique<Write>();
    rest->bytes = bytes.substr(done);
    rest->request.data = this;
    buffer = uv_buf_init(rest->bytes.data(), static_cast<unsigned>(rest->bytes.size()));
    int error = uv_write(&rest->request, stream, &buffer, 1, [](uv_write_t *request, int status) {
        std::unique_ptr<Write> owned(reinterpret_cast<Write *>(request));
        auto *client = static_cast<Client *>(request->data);
        if (status && !client->silent_) client->endWith("writing", status);
    });
    if (error) return endWith("writing", error);
    rest.release();
}

void Client::endWith(const char *what, int error) {
    std::string why =
        std::string(what) + " failed (" + uv_strerror(error) + ")" + remedy(error);
    end(isMachineLimit(error) ? Ending::machineLimit : Ending::lost, why);
}

void Client::end(Ending ending, const std::string &why) {
    if (silent_) return;
    silent_ = true;
    if (ending == Ending::lost && state_ != State::ready) ending = Ending::notConnected;
    owner_.ended(*this, ending, why);
}
