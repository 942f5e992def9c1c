#include "deadlock.h"

#include "loop.h"

#include <dirent.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define LOOK_MS 200 /* between looks */

/* The library's thread acts only after somebody has rung it. */
static bool is_our_thread(pid_t pid, const char *thread)
{
    char name[32];
    file_read(name, sizeof name, "/proc/%d/task/%s/comm", (int)pid, thread);
    return strcmp(name, NODE_SERVER "\n") == 0;
}

/* The kernel shows number and arguments of the system call that a thread sleeps in. */
static bool sleeps_until_woken(pid_t pid, const char *thread)
{
    char text[256];
    long number;
    unsigned long operation, limit;
    file_read(text, sizeof text, "/proc/%d/task/%s/syscall", (int)pid, thread);
    if (sscanf(text, "%ld %*x %lx %*x %lx", &number, &operation, &limit) != 3)
        return false;
    operation &= FUTEX_CMD_MASK;
    return number == SYS_futex && limit == 0 &&
           (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET || operation == FUTEX_LOCK_PI);
}

/* Returns the record of the thread's wait if it waits for PEs alone, or null. */
static const struct node_wait *wait_of_thread(const struct view *view, uint32_t index, int thread)
{
    for (int i = 0; i < NODE_WAITS; i++) {
        const struct node_wait *wait = view_wait(view, index, i);
        if (atomic_load_acquire(&wait->state) == NODE_WAIT_VALID &&
            wait->thread == thread) /* release: rte_wait_record_begin */
            return wait->on.may_end ? NULL : wait;
    }
    return NULL;
}

/* What a look has seen so far. */
struct seen {
    uint64_t mark, looks;
    uint32_t waiting; /* number of waits */
};

static void mix_value(struct seen *seen, uint64_t value)
{
    seen->mark = (seen->mark ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    seen->mark ^= seen->mark >> 29;
}

static bool thread_stuck(const struct view *view, uint32_t index, const char *thread, struct seen *seen)
{
    const struct node_wait *wait = wait_of_thread(view, index, atoi(thread));
    if (!wait)
        return sleeps_until_woken(view->pids[index], thread) || is_our_thread(view->pids[index], thread);
    if (wait->on.about == NODE_REASON_PES && wait->on.object == NODE_NO_TEAM)
        return true;
    mix_value(seen, wait->since);
    mix_value(seen, atomic_load_relaxed(&wait->value));
    seen->looks += atomic_load_relaxed(&wait->looks);
    seen->waiting++;
    return true;
}

static bool pe_stuck(const struct view *view, uint32_t index, struct seen *seen)
{
    char path[64];
    uint32_t state = atomic_load_acquire(&view->node->pe[index].state); /* release: the PE */
    if (state == NODE_FINALISED || !view->pids[index])
        return true; /* it does nothing for others any more */
    snprintf(path, sizeof path, "/proc/%d/task", (int)view->pids[index]);
    DIR *threads = opendir(path);
    bool stuck = threads != NULL && state == NODE_RUNNING;
    for (struct dirent *entry; stuck && (entry = readdir(threads));)
        if (entry->d_name[0] != '.')
            stuck = thread_stuck(view, index, entry->d_name, seen);
    if (threads)
        closedir(threads);
    return stuck;
}

bool deadlock_look(struct deadlock *deadlock, const struct view *view)
{
    const struct deadlock before = *deadlock;
    const int64_t now = loop_now();
    struct seen seen = {0};
    bool still = true;
    if (now < before.next)
        return false;
    for (uint32_t index = 0; still && index < view->node->size; index++)
        still = pe_stuck(view, index, &seen);
    if (!still || !seen.waiting || seen.mark != before.mark)
        *deadlock =
            (struct deadlock){still && !seen.waiting ? STUCK_IDLE : STUCK_NOT, still ? seen.mark : 0, seen.looks, 0};
    else if (seen.looks >
             before
                 .looks) /* waiters that have not looked since may be stopped, with what they wait for already there */
        deadlock->stuck = STUCK_WAITS;
    deadlock->next = now + LOOK_MS;
    return deadlock->stuck != before.stuck;
}
