/* The bare loop on epoll; see loop.h. */
#include "loop.h"
#include <linux/net_tstamp.h>
#include <sys/epoll.h>

static char buffer[256 * 1024];

/* Asks for the kernel's stamp of each read, as websocket-bench does with --timestamps kernel. */
static void stamp(int fd) {
    int flags = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
    if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof flags) < 0) die("setsockopt");
}

static ssize_t receive_stamped(int fd) {
    char control[128];
    struct iovec part = {.iov_base = buffer, .iov_len = sizeof buffer};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1,
        .msg_control = control, .msg_controllen = sizeof control,
    };
    return recvmsg(fd, &message, MSG_DONTWAIT);
}

int main(int argc, char **argv) {
    struct load load;
    begin(&load, argc, argv);
    int epoll = epoll_create1(0);
    int stamped = !strcmp(argv[9], "kernel");
    for (int i = 0; i < load.clients; i++) {
        if (stamped) stamp(load.sockets[i]);
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
            int fd = load.sockets[client];
            ssize_t n = stamped ? receive_stamped(fd) : recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
            if (n <= 0) die("recv");
            note(&load, client, (uint64_t)n);
        }
    }
    end(&load, cpu_ns() - start);
    return 0;
}
