#include "net/testing/wrapper.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct wrapper wrapper;

/* --- The plan */

bool wrapper_number(const char *value, uint64_t *number)
{
    char *end;
    *number = strtoull(value, &end, 10);
    return end != value && !*end;
}

/* Returns what stands behind a wrapper's name in a list such as sim,seed=3:fault:ucx, from the comma or colon on; null when there is
 * none. */
static const char *behind_name(const char *name)
{
    const char *list = getenv("LATERAL_TRANSPORTS");
    const size_t bytes = strlen(name);
    while (list && (strncmp(list, name, bytes) != 0 || !strchr(",:", list[bytes]))) {
        list = strchr(list, ':');
        list += list != 0;
    }
    return list ? list + bytes : 0;
}

static const char *read_word(const char *name, const char *value,
                             const char *(*other)(const char *name, const char *value))
{
    static const char *const names[] = {"seed", "hold", "steps"};
    uint64_t number;
    size_t which = 0;
    while (which < 3 && strcmp(name, names[which]) != 0)
        which++;
    if (which == 3)
        return other(name, value);
    if (!wrapper_number(value, &number))
        return "LATERAL_TRANSPORTS: a number is missing";
    if (which == 0)
        wrapper.seed = number;
    else
        *(which == 1 ? &wrapper.hold : &wrapper.steps) = (uint32_t)number;
    return 0;
}

const char *wrapper_plan_read(const char *wrapper_name, const char *(*other)(const char *name, const char *value))
{
    const char *text = behind_name(wrapper_name), *why = 0;
    char copy[256], *rest = copy, *word;
    snprintf(copy, sizeof copy, "%.*s", text ? (int)strcspn(text, ":") : 0, text ? text : "");
    while (!why && (word = strsep(&rest, ","))) {
        char *value = strchr(word, '=');
        if (!*word)
            continue;
        if (!value)
            return "LATERAL_TRANSPORTS: words of a plan look like seed=3";
        *value++ = 0;
        why = read_word(word, value, other);
    }
    return why;
}

/* splitmix64 */
uint64_t wrapper_random(struct wrapper_worker *worker)
{
    uint64_t z = worker->random += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

uint64_t wrapper_draw_due(struct wrapper_worker *worker)
{
    const uint64_t random = wrapper_random(worker);
    if (random % 100 >= wrapper.hold || !wrapper.steps)
        return worker->step;
    return worker->step + 1 + (random >> 8) % wrapper.steps;
}

/* --- The transport behind it */

static const char *load_behind(const char *outer, const struct transport **behind)
{
    Dl_info here;
    char path[PATH_MAX + 32];
    const char *plan = behind_name(outer), *name = plan ? strchr(plan, ':') : 0;
    if (!name || !dladdr((void *)&wrapper, &here))
        return "there is none behind it: LATERAL_TRANSPORTS=fault:ucx, sim:ucx or sim:fault:ucx";
    const size_t bytes = strcspn(++name, ",:");
    const char *slash = strrchr(here.dli_fname, '/');
    snprintf(path, sizeof path, "%.*s/liblateral-%.*s.so", slash ? (int)(slash - here.dli_fname) : 1,
             slash ? here.dli_fname : ".", bytes < 16 ? (int)bytes : 16, name);
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    *behind = module ? dlsym(module, TRANSPORT_SYMBOL) : 0;
    return *behind ? 0 : "the one behind it cannot be loaded";
}

const char *wrapper_open(const char *name, const struct transport_events *to, const struct transport_events *own,
                         int pe, int npes)
{
    wrapper.events = to;
    wrapper.me = pe;
    const char *why = wrapper.behind ? 0 : load_behind(name, &wrapper.behind);
    return why ? why : wrapper.behind->open(own, pe, npes, 0); /* its one-sided operations are not wrapped */
}

void wrapper_broken(void *owner, int pe, const char *why)
{
    const struct wrapper_worker *worker = owner;
    wrapper.events->broken(worker->owner, pe, why);
}

/* --- Workers and peers */

static void watch_file(const struct wrapper_worker *worker, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(worker->files, EPOLL_CTL_ADD, fd, &event);
}

const char *wrapper_worker_open(void *owner, size_t bytes, void **made)
{
    static uint64_t opened; /* one thread at a time opens workers */
    struct wrapper_worker *worker = calloc(1, bytes);
    if (!worker)
        return "no memory";
    worker->owner = owner;
    worker->random = wrapper.seed * 1000003 + (uint64_t)wrapper.me * 64 + opened++ % 64;
    const char *why = wrapper.behind->open_worker(worker, &worker->at);
    if (why) {
        free(worker);
        return why;
    }
    worker->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    worker->files = epoll_create1(EPOLL_CLOEXEC);
    watch_file(worker, worker->wake);
    watch_file(worker, wrapper.behind->descriptor(worker->at));
    worker->next = wrapper.workers;
    *made = wrapper.workers = worker;
    return 0;
}

void *wrapper_connect(void *of, int pe, const void *address, size_t address_bytes, size_t bytes)
{
    struct wrapper_worker *worker = of;
    struct wrapper_peer *peer = calloc(1, bytes);
    if (!peer)
        return 0;
    peer->at = wrapper.behind->connect(worker->at, pe, address, address_bytes);
    peer->worker = worker;
    peer->pe = pe;
    if (!peer->at) {
        free(peer);
        return 0;
    }
    peer->next = worker->peers;
    return worker->peers = peer;
}

int wrapper_address(void *of, void *room, size_t *bytes)
{
    const struct wrapper_worker *worker = of;
    return wrapper.behind->address(worker->at, room, bytes);
}

/* --- Sleep, end */

void wrapper_wake(const struct wrapper_worker *worker)
{
    eventfd_write(worker->wake, 1);
}

int wrapper_descriptor(void *worker)
{
    return ((struct wrapper_worker *)worker)->files;
}

int wrapper_arm(struct wrapper_worker *worker)
{
    eventfd_t count;
    eventfd_read(worker->wake, &count);
    return wrapper.behind->arm(worker->at);
}

void wrapper_close(void)
{
    wrapper.behind->close();
    while (wrapper.workers) {
        struct wrapper_worker *worker = wrapper.workers;
        wrapper.workers = worker->next;
        while (worker->peers) {
            struct wrapper_peer *peer = worker->peers;
            worker->peers = peer->next;
            free(peer);
        }
        close(worker->files);
        close(worker->wake);
        free(worker);
    }
}
