#include "listener.h"

#include <boost/asio/strand.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "session.h"

namespace {

namespace net = boost::asio;
using net::ip::tcp;

}  // namespace

Listener::Listener(net::io_context &loop, const Options &options)
    : loop_(loop), options_(options), acceptor_(loop), pause_(loop) {
    const tcp::endpoint endpoint = *tcp::resolver(loop).resolve(
        options.host, std::to_string(options.port), tcp::resolver::passive);
    acceptor_.open(endpoint.protocol());
    acceptor_.set_option(net::socket_base::reuse_address(true));
    acceptor_.bind(endpoint);
    acceptor_.listen(net::socket_base::max_listen_connections);
}

void Listener::accept() {
    acceptor_.async_accept(net::make_strand(loop_), [this](auto error, tcp::socket socket) {
        onAccept(error, std::move(socket));
    });
}

void Listener::onAccept(boost::system::error_code error, tcp::socket socket) {
    if (!error) {
        std::make_shared<Session>(std::move(socket), hub_, topics_, options_)->start();
        return accept();
    }
    // Such as too many open files, which would come again at once.
    pause_.expires_after(std::chrono::milliseconds(50));
    pause_.async_wait([this](auto) { accept(); });
}
