// Accepts connections and starts a session for each.

#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "hub.h"
#include "options.h"
#include "topics.h"

class Listener {
public:
    // Throws boost::system::system_error when it cannot listen.
    Listener(boost::asio::io_context &loop, const Options &options);

    void accept();

private:
    void onAccept(boost::system::error_code error, boost::asio::ip::tcp::socket socket);

    boost::asio::io_context &loop_;
    const Options &options_;
    Hub hub_;
    Topics topics_;
    boost::asio::ip::tcp::acceptor acceptor_;
    boost::asio::steady_timer pause_;
};
