// The run: connect so many clients, take the samples, judge, go on with more.
#pragma once

#include <uv.h>

#include <memory>
#include <random>
#include <vector>

#include "client.h"
#include "figures.h"
#include "message.h"
#include "options.h"
#include "tally.h"

class Bench : ClientOwner {
   public:
    // `loop` is run by the caller and stopped by the bench.
    Bench(uv_loop_t *loop, const Options &options, const Target &target);
    ~Bench();

    void start();
    // Ends the run and stops the loop; `why` goes to stderr unless empty.
    void finish(int exitCode, const std::string &why);

    int exitCode() const { return exitCode_; }
    const std::vector<Figures> &steps() const { return steps_; }

   private:
    void ready(Client &client) override;
    void received(Client &client, std::string_view payload, uint64_t readNs) override;
    void ended(Client &client, Ending ending, const std::string &why) override;

    void growTo(size_t clients);
    void openMore();
    void beginStep();
    void sendMore();
    void endStep();
    void lookAtClocks();

    uv_loop_t *loop_;
    const Options &options_;
    const Target &target_;
    Message message_;
    Tally tally_;
    std::mt19937_64 random_;
    std::vector<std::unique_ptr<Client>> clients_;
    std::vector<uint64_t> completions_;
    std::vector<Figures> steps_;
    uv_timer_t clock_, settling_;
    size_t wanted_ = 0, ready_ = 0, firstConnecting_ = 0;
    int sent_ = 0;
    bool measuring_ = false, finished_ = false;
    int exitCode_ = 0;
};
