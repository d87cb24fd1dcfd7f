#include "tally.h"

#include <algorithm>

namespace {

std::string client(size_t number) { return "client " + std::to_string(number + 1); }

std::string broadcast(uint64_t stamp) {
    return "broadcast " + std::to_string((stamp & 0xffff'ffff) + 1);
}

}  // namespace

uint64_t Tally::begin(size_t sender, size_t clients, uint64_t nowNs) {
    uint64_t stamp = static_cast<uint64_t>(nonce_) << 32 | next_++;
    broadcasts_.emplace(stamp,
                        Broadcast{sender, clients, nowNs, nowNs, std::vector<bool>(clients), false});
    return stamp;
}

Tally::Broadcast &Tally::find(uint64_t stamp, size_t number, const char *what) {
    auto found = broadcasts_.find(stamp);
    if (found != broadcasts_.end()) return found->second;
    bool ours = stamp >> 32 == nonce_ && (stamp & 0xffff'ffff) < next_;
    throw WrongMessage(client(number) + " received " + what +
                       (ours ? " of " + broadcast(stamp) + " once more, after it was complete"
                             : " of no broadcast of this run"));
}

void Tally::delivered(size_t number, uint64_t stamp, uint64_t nowNs) {
    Broadcast &under = find(stamp, number, "a copy");
    if (number >= under.has.size()) {
        throw WrongMessage(client(number) + " received " + broadcast(stamp) +
                           ", which was sent before it connected");
    }
    if (under.has[number]) {
        throw WrongMessage(client(number) + " received " + broadcast(stamp) + " twice");
    }
    under.has[number] = true;
    under.missing--;
    under.lastNs = std::max(under.lastNs, nowNs);
}

void Tally::answered(size_t number, uint64_t stamp) {
    Broadcast &under = find(stamp, number, "the result");
    if (number != under.sender) {
        throw WrongMessage(client(number) + " received the result of " + broadcast(stamp) +
                           ", which " + client(under.sender) + " had sent");
    }
    if (under.answered) {
        throw WrongMessage(client(number) + " received the result of " + broadcast(stamp) +
                           " twice");
    }
    under.answered = true;
}

std::optional<uint64_t> Tally::finish(uint64_t stamp) {
    auto found = broadcasts_.find(stamp);
    if (found == broadcasts_.end()) return std::nullopt;
    const Broadcast &under = found->second;
    if (under.missing > 0 || !under.answered) return std::nullopt;
    uint64_t completion = under.lastNs - under.beganNs;
    broadcasts_.erase(found);
    return completion;
}

std::optional<std::string> Tally::overdue(uint64_t beforeNs) const {
    auto oldest = std::min_element(
        broadcasts_.begin(), broadcasts_.end(),
        [](const auto &a, const auto &b) { return a.second.beganNs < b.second.beganNs; });
    if (oldest == broadcasts_.end() || oldest->second.beganNs >= beforeNs) return std::nullopt;
    const Broadcast &under = oldest->second;
    std::string text;
    if (under.missing > 0) {
        auto first = std::find(under.has.begin(), under.has.end(), false) - under.has.begin();
        text = std::to_string(under.missing) + " of " + std::to_string(under.has.size()) +
               " clients have not received " + broadcast(oldest->first) + ", the first of them " +
               client(static_cast<size_t>(first));
    }
    if (!under.answered) {
        text += text.empty() ? "" : ", and ";
        text += client(under.sender) + " has had no result of " +
                (text.empty() ? broadcast(oldest->first) : "it");
    }
    return text;
}
