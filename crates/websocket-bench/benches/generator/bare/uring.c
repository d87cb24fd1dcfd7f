/* The bare loop on io_uring: one multishot receive per socket into a ring of provided buffers, one
 * completion awaited at a time, as many taken as are there; see loop.h. By system calls alone, so
 * that no library is needed. */
#include "loop.h"
#include <errno.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { ENTRIES = 1024, COMPLETIONS = 8192, BUFFERS = 256, BUFFER_SIZE = 4096 };

static int ring;
static unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask, queued;
static struct io_uring_sqe *sqes;
static struct io_uring_cqe *cqes;
static struct io_uring_buf_ring *buffers;
static char *memory;

static void enter(unsigned wait) {
    long n = syscall(SYS_io_uring_enter, ring, queued, wait, IORING_ENTER_GETEVENTS, NULL, 0);
    if (n < 0 && errno != EINTR) die("io_uring_enter");
    if (n > 0) queued -= (unsigned)n;
}

static void receive(const struct load *load, uint32_t client) {
    if (queued == ENTRIES) enter(0);
    unsigned tail = *sq_tail;
    sqes[tail & *sq_mask] = (struct io_uring_sqe){
        .opcode = IORING_OP_RECV, .fd = load->sockets[client], .flags = IOSQE_BUFFER_SELECT,
        .ioprio = IORING_RECV_MULTISHOT, .user_data = client,
    };
    sq_array[tail & *sq_mask] = tail & *sq_mask;
    __atomic_store_n(sq_tail, tail + 1, __ATOMIC_RELEASE);
    queued++;
}

static void provide(unsigned id) {
    struct io_uring_buf *slot = &buffers->bufs[buffers->tail & (BUFFERS - 1)];
    slot->addr = (uint64_t)(uintptr_t)(memory + (size_t)id * BUFFER_SIZE);
    slot->len = BUFFER_SIZE;
    slot->bid = (uint16_t)id;
    __atomic_store_n(&buffers->tail, (uint16_t)(buffers->tail + 1), __ATOMIC_RELEASE);
}

static void *map(size_t size, off_t what) {
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, what);
    if (at == MAP_FAILED) die("mmap");
    return at;
}

static void set_up(void) {
    struct io_uring_params p = {
        .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE,
        .cq_entries = COMPLETIONS,
    };
    ring = (int)syscall(SYS_io_uring_setup, ENTRIES, &p);
    if (ring < 0) die("io_uring_setup");
    char *sq = map(p.sq_off.array + p.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
    char *cq = map(p.cq_off.cqes + p.cq_entries * sizeof *cqes, IORING_OFF_CQ_RING);
    sqes = map(p.sq_entries * sizeof *sqes, IORING_OFF_SQES);
    sq_tail = (unsigned *)(sq + p.sq_off.tail);
    sq_mask = (unsigned *)(sq + p.sq_off.ring_mask);
    sq_array = (unsigned *)(sq + p.sq_off.array);
    cq_head = (unsigned *)(cq + p.cq_off.head);
    cq_tail = (unsigned *)(cq + p.cq_off.tail);
    cq_mask = (unsigned *)(cq + p.cq_off.ring_mask);
    cqes = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
    buffers = mmap(NULL, BUFFERS * sizeof *buffers->bufs, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memory = malloc((size_t)BUFFERS * BUFFER_SIZE);
    struct io_uring_buf_reg reg = {
        .ring_addr = (uint64_t)(uintptr_t)buffers, .ring_entries = BUFFERS,
    };
    if (syscall(SYS_io_uring_register, ring, IORING_REGISTER_PBUF_RING, &reg, 1) < 0)
        die("io_uring_register");
    for (unsigned id = 0; id < BUFFERS; id++) provide(id);
}

int main(int argc, char **argv) {
    struct load load;
    begin(&load, argc, argv);
    set_up();
    for (int i = 0; i < load.clients; i++) receive(&load, (uint32_t)i);
    enter(0);
    uint64_t start = cpu_ns();
    while (send_due(&load)) {
        unsigned head = *cq_head;
        if (head == __atomic_load_n(cq_tail, __ATOMIC_ACQUIRE)) enter(1);
        unsigned tail = __atomic_load_n(cq_tail, __ATOMIC_ACQUIRE);
        for (; head != tail; head++) {
            struct io_uring_cqe *cqe = &cqes[head & *cq_mask];
            uint32_t client = (uint32_t)cqe->user_data;
            if (cqe->res > 0) {
                note(&load, client, (uint64_t)cqe->res);
                provide(cqe->flags >> IORING_CQE_BUFFER_SHIFT);
            } else if (cqe->res != -ENOBUFS) {
                errno = -cqe->res;
                die("receive");
            }
            if (!(cqe->flags & IORING_CQE_F_MORE)) receive(&load, client);
        }
        __atomic_store_n(cq_head, head, __ATOMIC_RELEASE);
    }
    end(&load, cpu_ns() - start);
    return 0;
}
