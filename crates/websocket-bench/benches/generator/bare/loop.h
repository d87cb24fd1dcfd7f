/* What the bare loops of `make bench-generator` share: the cheapest clients that can drive a
 * broadcast or an echo. They connect, send requests, and count the bytes that come back; they look
 * at none of them.
 *
 * When is a broadcast complete, so that the next may be sent? In the mode "total": when as many
 * bytes have come, on whatever sockets, as so many broadcasts bring; the loop then runs ahead of
 * the slowest listener. In the mode "each": when every socket has had so many bytes, which is the
 * closed loop that websocket-bench runs. An echo is complete when its bytes have come; with echoes
 * the two modes are one. Prints "CPU-nanoseconds deliveries reads".
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct load {
    int port, clients, concurrent, echo, each, *sockets;
    long samples, sent, complete;
    long *reached;          /* how many sockets have had the n-th broadcast */
    uint64_t *bytes;        /* by socket */
    uint64_t received, reads, per_sample, per_delivery, cpu_start;
    char *request;
    size_t request_length;
};

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
    char answer[4096];
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0) die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (send(fd, request, sizeof request - 1, 0) < 0) die("send");
    size_t have = 0;
    while (!memmem(answer, have, "\r\n\r\n", 4)) {
        ssize_t n = recv(fd, answer + have, sizeof answer - have, 0);
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

/* Reads the arguments, builds the request, connects the clients. */
static void begin(struct load *load, int argc, char **argv) {
    if (argc != 10) {
        fprintf(stderr,
                "usage: %s PORT CLIENTS CONCURRENT SAMPLES PADDING json|binary "
                "broadcast|echo total|each none|kernel\n", argv[0]);
        exit(1);
    }
    size_t padding = strtoul(argv[5], NULL, 10), size, result;
    int binary = !strcmp(argv[6], "binary");
    *load = (struct load){
        .port = atoi(argv[1]), .clients = atoi(argv[2]), .concurrent = atoi(argv[3]),
        .samples = atol(argv[4]), .echo = !strcmp(argv[7], "echo"), .each = !strcmp(argv[8], "each"),
    };
    char *pad = malloc(padding + 1), *payload = malloc(padding + 256);
    for (size_t i = 0; i < padding; i++) pad[i] = "1234567890"[i % 10];
    pad[padding] = 0;
    if (binary) {
        size = result = 13 + padding;
        memset(payload, 0, 13);
        payload[0] = load->echo ? 'e' : 'b';
        payload[3] = (char)((8 + padding) >> 8);
        payload[4] = (char)(8 + padding);
        memcpy(payload + 13, pad, padding);
    } else {
        size = (size_t)sprintf(payload,
            "{\"type\":\"%s\",\"payload\":{\"stamp\":\"0000000000000000\",\"padding\":\"%s\"}}",
            load->echo ? "echo" : "broadcast", pad);
        result = size + strlen("Result");
    }
    load->request = malloc(padding + 512);
    load->request_length = frame(load->request, payload, size, binary ? 2 : 1);
    load->per_delivery = (size < 126 ? 2 : 4) + size;
    load->per_sample = load->echo
        ? load->per_delivery
        : (uint64_t)load->clients * load->per_delivery + (result < 126 ? 2 : 4) + result;
    load->sockets = calloc((size_t)load->clients, sizeof *load->sockets);
    load->bytes = calloc((size_t)load->clients, sizeof *load->bytes);
    load->reached = calloc((size_t)load->samples + 64, sizeof *load->reached);
    for (int i = 0; i < load->clients; i++) load->sockets[i] = connect_one(load->port);
}

/* Sends what is due. Zero when everything has come back. */
static int send_due(struct load *load) {
    if (load->received >= (uint64_t)load->samples * load->per_sample) return 0;
    if (load->echo || !load->each) load->complete = (long)(load->received / load->per_sample);
    else while (load->complete < load->sent && load->reached[load->complete + 1] == load->clients)
        load->complete++;
    while (load->sent < load->samples && load->sent < load->complete + load->concurrent) {
        int socket = load->sockets[rand() % load->clients];
        if (send(socket, load->request, load->request_length, 0) < 0) die("send");
        load->sent++;
    }
    return 1;
}

/* Notes that `n` bytes have come on a socket. */
static inline void note(struct load *load, uint32_t client, uint64_t n) {
    load->received += n;
    load->reads++;
    if (!load->each || load->echo) return;
    long before = (long)(load->bytes[client] / load->per_delivery);
    load->bytes[client] += n;
    long after = (long)(load->bytes[client] / load->per_delivery);
    while (before < after) load->reached[++before]++;
}

static void end(const struct load *load, uint64_t used) {
    unsigned long deliveries = (unsigned long)load->samples;
    if (!load->echo) deliveries *= (unsigned long)load->clients;
    printf("%lu %lu %lu\n", used, deliveries, load->reads);
}
