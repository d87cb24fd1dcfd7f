#include "bench.h"

#include <cstdio>

#include "exit_codes.h"

namespace {

// Handshakes under way at once: small accept queues hold about so many.
constexpr size_t CONNECTING_AT_ONCE = 50;
// How often time-outs are looked for.
constexpr uint64_t CLOCK_MS = 20;
// Second copies come this late after the last sample, or are missed.
constexpr uint64_t SETTLING_MS = 50;

std::string seconds(uint64_t ns) {
    char text[32];
    std::snprintf(text, sizeof text, "%g s", static_cast<double>(ns) / 1e9);
    return text;
}

}  // namespace

Bench::Bench(uv_loop_t *loop, const Options &options, const Target &target)
    : loop_(loop),
      options_(options),
      target_(target),
      message_(static_cast<size_t>(options.payloadPadding)),
      tally_(std::random_device{}()),
      random_(std::random_device{}()) {
    uv_timer_init(loop, &clock_);
    uv_timer_init(loop, &settling_);
    clock_.data = settling_.data = this;
}

Bench::~Bench() = default;

void Bench::start() {
    uv_timer_start(
        &clock_, [](uv_timer_t *timer) { static_cast<Bench *>(timer->data)->lookAtClocks(); },
        CLOCK_MS, CLOCK_MS);
    growTo(static_cast<size_t>(options_.initialClients));
}

void Bench::finish(int exitCode, const std::string &why) {
    if (finished_) return;
    finished_ = true;
    exitCode_ = exitCode;
    if (!why.empty()) std::fprintf(stderr, "cpp-bench: %s\n", why.c_str());
    for (auto &client : clients_) client->silence();
    uv_stop(loop_);
}

void Bench::growTo(size_t clients) {
    wanted_ = clients;
    openMore();
}

void Bench::openMore() {
    ClientOwner &owner = *this;
    while (!finished_ && clients_.size() < wanted_ &&
           clients_.size() - ready_ < CONNECTING_AT_ONCE) {
        clients_.push_back(std::make_unique<Client>(loop_, owner, target_, clients_.size(),
                                                    message_.size()));
        clients_.back()->connect();
    }
}

void Bench::ready(Client &) {
    ready_++;
    openMore();
    if (ready_ == wanted_) beginStep();
}

void Bench::beginStep() {
    measuring_ = true;
    sent_ = 0;
    completions_.clear();
    sendMore();
}

void Bench::sendMore() {
    while (!finished_ && sent_ < options_.sampleSize &&
           tally_.underWay() < static_cast<size_t>(options_.concurrent)) {
        std::uniform_int_distribution<size_t> any(0, clients_.size() - 1);
        size_t sender = any(random_);
        uint64_t stamp = tally_.begin(sender, clients_.size(), uv_hrtime());
        sent_++;
        clients_[sender]->send(message_.request(stamp));
    }
}

void Bench::received(Client &client, std::string_view payload, uint64_t readNs) {
    Message::Read read = message_.read(payload);
    if (read.isResult) {
        tally_.answered(client.number(), read.stamp);
    } else {
        tally_.delivered(client.number(), read.stamp, readNs);
    }
    std::optional<uint64_t> completion = tally_.finish(read.stamp);
    if (!completion) return;
    completions_.push_back(*completion);
    if (completions_.size() < static_cast<size_t>(options_.sampleSize)) return sendMore();
    measuring_ = false;
    uv_timer_start(
        &settling_, [](uv_timer_t *timer) { static_cast<Bench *>(timer->data)->endStep(); },
        SETTLING_MS, 0);
}

void Bench::endStep() {
    steps_.push_back(figuresOf(clients_.size(), completions_, options_.limitPercentile,
                               options_.limitRttNs));
    std::printf("%s\n", line(steps_.back()).c_str());
    std::fflush(stdout);
    bool all = options_.totalSteps && steps_.size() == static_cast<size_t>(options_.totalSteps);
    if (steps_.back().overLimit || all) return finish(EXIT_MEASURED, "");
    growTo(wanted_ + static_cast<size_t>(options_.stepSize));
}

void Bench::ended(Client &client, Ending ending, const std::string &why) {
    std::string place = target_.name + ": client " + std::to_string(client.number() + 1) + ": ";
    switch (ending) {
        case Ending::machineLimit:
        case Ending::notConnected:
            if (steps_.empty()) return finish(EXIT_USAGE, place + why);
            return finish(EXIT_MEASURED, "ended at " + std::to_string(steps_.back().clients) +
                                             " clients, since no more could connect: " + place +
                                             why);
        case Ending::lost:
        case Ending::wrong: return finish(EXIT_INVALID, place + why);
    }
}

void Bench::lookAtClocks() {
    uint64_t now = uv_hrtime();
    while (firstConnecting_ < clients_.size() && clients_[firstConnecting_]->isReady()) {
        firstConnecting_++;
    }
    for (size_t i = firstConnecting_; i < clients_.size(); i++) {
        Client &client = *clients_[i];
        if (!client.isReady() && now - client.connectingSinceNs() > options_.connectTimeoutNs) {
            return ended(client, Ending::notConnected,
                         "not ready within " + seconds(options_.connectTimeoutNs));
        }
    }
    if (!measuring_ || now < options_.sampleTimeoutNs) return;
    if (auto missing = tally_.overdue(now - options_.sampleTimeoutNs)) {
        finish(EXIT_INVALID, target_.name + ": lost: after " + seconds(options_.sampleTimeoutNs) +
                                 " " + *missing);
    }
}
