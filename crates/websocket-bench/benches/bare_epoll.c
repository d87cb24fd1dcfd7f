/* The yardstick of `make bench-generator`: the cheapest client loop that can drive a broadcast.
 *
 * It connects, sends broadcasts, and counts the bytes that come back; it looks at none of them.
 * When is a broadcast complete, so that the next may be sent? In the mode "total": when as many
 * bytes have come, on whatever sockets, as so many broadcasts bring; it then runs ahead of the
 * slowest listener. In the mode "each": when every socket has had so many bytes, which is the
 * closed loop that websocket-bench runs. Prints "CPU-nanoseconds deliveries reads".
 *
 * Usage: bare_epoll PORT CLIENTS CONCURRENT SAMPLES PADDING json|binary total|each
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static char buffer[256 * 1024];

static void die(const char *what) {
    perror(what);
    exit(1);
}

static uint64_t cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int connect_one(int port) {
    static const char request[] =
        "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0) die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (send(fd, request, sizeof request - 1, 0) < 0) die("send");
    size_t have = 0;
    while (!memmem(buffer, have, "\r\n\r\n", 4)) {
        ssize_t n = recv(fd, buffer + have, sizeof buffer - have, 0);
        if (n <= 0) die("upgrade");
        have += (size_t)n;
    }
    return fd;
}

/* A masked frame whose key is zero: the payload travels as it is. Returns its length. */
static size_t frame(char *out, const char *payload, size_t size, int opcode) {
    size_t head = 2;
    out[0] = (char)(0x80 | opcode);
    if (size < 126) {
        out[1] = (char)(0x80 | size);
    } else {
        out[1] = (char)(0x80 | 126);
        out[2] = (char)(size >> 8);
        out[3] = (char)size;
        head = 4;
    }
    memset(out + head, 0, 4);
    memcpy(out + head + 4, payload, size);
    return head + 4 + size;
}

int main(int argc, char **argv) {
    if (argc != 8) {
        fprintf(stderr, "usage: %s PORT CLIENTS CONCURRENT SAMPLES PADDING json|binary total|each\n",
                argv[0]);
        return 1;
    }
    int port = atoi(argv[1]), clients = atoi(argv[2]), concurrent = atoi(argv[3]);
    long samples = atol(argv[4]);
    size_t padding = strtoul(argv[5], NULL, 10);
    int binary = !strcmp(argv[6], "binary"), each = !strcmp(argv[7], "each");
    char *pad = malloc(padding + 1), *payload = malloc(padding + 256), *out = malloc(padding + 512);
    for (size_t i = 0; i < padding; i++) pad[i] = "1234567890"[i % 10];
    pad[padding] = 0;
    size_t size, result;
    if (binary) {
        size = result = 13 + padding;
        memset(payload, 0, 13);
        payload[0] = 'b';
        payload[3] = (char)((8 + padding) >> 8);
        payload[4] = (char)(8 + padding);
        memcpy(payload + 13, pad, padding);
    } else {
        size = (size_t)sprintf(payload,
            "{\"type\":\"broadcast\",\"payload\":{\"stamp\":\"0000000000000000\",\"padding\":\"%s\"}}", pad);
        result = size + strlen("Result");
    }
    size_t length = frame(out, payload, size, binary ? 2 : 1);
    size_t head = size < 126 ? 2 : 4, result_head = result < 126 ? 2 : 4;
    uint64_t per_broadcast = (uint64_t)clients * (head + size) + result_head + result;

    int epoll = epoll_create1(0), *sockets = calloc((size_t)clients, sizeof *sockets);
    uint64_t *bytes = calloc((size_t)clients, sizeof *bytes);
    long *reached = calloc((size_t)samples + 64, sizeof *reached), complete = 0;
    for (int i = 0; i < clients; i++) {
        sockets[i] = connect_one(port);
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
        epoll_ctl(epoll, EPOLL_CTL_ADD, sockets[i], &event);
    }
    uint64_t start = cpu_ns(), received = 0, reads = 0;
    long sent = 0;
    while (received < (uint64_t)samples * per_broadcast) {
        if (!each) complete = (long)(received / per_broadcast);
        else while (complete < sent && reached[complete + 1] == clients) complete++;
        while (sent < samples && sent < complete + concurrent)
            if (send(sockets[rand() % clients], out, length, 0) < 0) die("send"); else sent++;
        struct epoll_event events[512];
        int ready = epoll_wait(epoll, events, 512, 10000);
        if (ready <= 0) die("epoll_wait");
        for (int i = 0; i < ready; i++) {
            uint32_t client = events[i].data.u32;
            ssize_t n = recv(sockets[client], buffer, sizeof buffer, MSG_DONTWAIT);
            if (n <= 0) die("recv");
            received += (uint64_t)n;
            reads++;
            if (each) {
                long before = (long)(bytes[client] / (head + size));
                bytes[client] += (uint64_t)n;
                long after = (long)(bytes[client] / (head + size));
                while (before < after) reached[++before]++;
            }
        }
    }
    uint64_t used = cpu_ns() - start;
    printf("%lu %lu %lu\n", used, (unsigned long)samples * (unsigned long)clients, reads);
    return 0;
}
