// Who has received what of the broadcasts under way. No I/O, no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

// A message that the protocol does not allow; what() says which.
struct WrongMessage : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Tally {
   public:
    // Stamps of other runs are told apart by the nonce.
    explicit Tally(uint32_t nonce) : nonce_(nonce) {}

    // Begins a broadcast of client `sender` to `clients` clients; returns its stamp.
    uint64_t begin(size_t sender, size_t clients, uint64_t nowNs);

    // A client has received the broadcast. Throws WrongMessage when it had it already, or when no
    // such broadcast is under way.
    void delivered(size_t client, uint64_t stamp, uint64_t nowNs);

    // The sender has received its result. Throws WrongMessage likewise, or to another client.
    void answered(size_t client, uint64_t stamp);

    // Ends a broadcast that every client and, with its result, the sender has: the nanoseconds from
    // its begin to the receipt by the last listener. Nothing while it is under way.
    std::optional<uint64_t> finish(uint64_t stamp);

    size_t underWay() const { return broadcasts_.size(); }

    // The broadcast that has waited longest, when it began before `beforeNs`: what is missing of it.
    std::optional<std::string> overdue(uint64_t beforeNs) const;

   private:
    struct Broadcast {
        size_t sender, missing;
        uint64_t beganNs, lastNs;
        std::vector<bool> has;
        bool answered;
    };

    Broadcast &find(uint64_t stamp, size_t client, const char *what);

    uint32_t nonce_, next_ = 0;
    std::unordered_map<uint64_t, Broadcast> broadcasts_;
};
