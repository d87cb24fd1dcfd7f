/* The bare loop on epoll; see loop.h. */
#include "loop.h"
#include <sys/epoll.h>

static char buffer[256 * 1024];

int main(int argc, char **argv) {
    struct load load;
    begin(&load, argc, argv);
    int epoll = epoll_create1(0);
    for (int i = 0; i < load.clients; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, load.sockets[i], &event) < 0) die("epoll_ctl");
    }
    uint64_t start = cpu_ns();
    while (send_due(&load)) {
        struct epoll_event events[512];
        int ready = epoll_wait(epoll, events, 512, 10000);
        if (ready <= 0) die("epoll_wait");
        for (int i = 0; i < ready; i++) {
            uint32_t client = events[i].data.u32;
            ssize_t n = recv(load.sockets[client], buffer, sizeof buffer, MSG_DONTWAIT);
            if (n <= 0) die("recv");
            note(&load, client, (uint64_t)n);
        }
    }
    end(&load, cpu_ns() - start);
    return 0;
}
