/* A library to preload that makes one call fail: FAIL_CALL (malloc, mmap, ftruncate, socket, memfd, fork, thread, copy, or file: what makes
 * a descriptor of another kind, duplicates one, changes its flags, or has epoll watch it; and getrandom) of
 * each process that FAIL_WHO names (launcher, pe0, pe1, all), its number FAIL_AT, or with FAIL_MORE each from that
 * number on. A process in which it failed appends its name to the file FAIL_HIT. With FAIL_OURS, only calls that Lateral or
 * the program makes count: other launchers bring libraries of their own into the process, which nobody here can mend. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

extern void *__libc_malloc(size_t bytes), *__libc_calloc(size_t count, size_t bytes),
    *__libc_realloc(void *old, size_t bytes), *__libc_memalign(size_t align, size_t bytes);
extern char *program_invocation_short_name;

static long number, at;
static int more, ours, how = -1; /* -1: not known yet; 0: nothing fails here; else the call */
enum call { NONE, MALLOC, MMAP, FTRUNCATE, SOCKET, MEMFD, FORK, THREAD, COPY, DESCRIPTOR };

/* The number of this PE, as the launcher has put it into the environment; -1: it is none. */
static int number_of_pe(void)
{
    const char *job = getenv("LATERAL_JOB"), *colon = job ? strchr(job, ':') : NULL;
    const char *rank = getenv("PMIX_RANK");
    rank = rank ? rank : getenv("PMI_RANK");
    return colon ? atoi(colon + 1) : rank ? atoi(rank) : -1;
}

static int is_wanted(const char *who)
{
    const int launcher = strcmp(program_invocation_short_name, "oshrun") == 0;
    if (strcmp(who, "all") == 0)
        return 1;
    if (strcmp(who, "launcher") == 0)
        return launcher;
    return !launcher && number_of_pe() == who[2] - '0';
}

static void learn(void)
{
    static const char *const names[] = {"",      "malloc", "mmap",   "ftruncate", "socket",
                                        "memfd", "fork",   "thread", "copy",      "file"};
    const char *call = getenv("FAIL_CALL"), *who = getenv("FAIL_WHO"), *when = getenv("FAIL_AT");
    how = NONE;
    if (!call || !who || !when || !program_invocation_short_name || !is_wanted(who))
        return;
    at = atol(when);
    more = getenv("FAIL_MORE") != NULL;
    ours = getenv("FAIL_OURS") != NULL;
    for (int i = 1; i <= DESCRIPTOR; i++)
        if (strcmp(call, names[i]) == 0)
            how = i;
}

static void note(void)
{
    const char *path = getenv("FAIL_HIT");
    long fd = path ? syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    syscall(SYS_write, fd, program_invocation_short_name, strlen(program_invocation_short_name));
    syscall(SYS_write, fd, "\n", 1L);
    syscall(SYS_close, fd);
}

static int is_ours(const void *caller)
{
    Dl_info info;
    return dladdr(caller, &info) && info.dli_fname &&
           (strstr(info.dli_fname, "liblateral") || strstr(info.dli_fname, program_invocation_short_name));
}

static int fails_at(enum call call, int error, const void *caller)
{
    if (how < 0)
        learn();
    if (how != (int)call || (ours && !is_ours(caller)))
        return 0;
    const long mine = __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED);
    if (mine != at && !(more && mine > at))
        return 0;
    if (mine == at)
        note();
    errno = error;
    return 1;
}

#define fails(call, error) fails_at(call, error, __builtin_return_address(0))

void *malloc(size_t bytes)
{
    return fails(MALLOC, ENOMEM) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return fails(MALLOC, ENOMEM) ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    return fails(MALLOC, ENOMEM) ? NULL : __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t align, size_t bytes)
{
    return fails(MALLOC, ENOMEM) ? NULL : __libc_memalign(align, bytes);
}

int posix_memalign(void **to, size_t align, size_t bytes)
{
    void *memory = fails(MALLOC, ENOMEM) ? NULL : __libc_memalign(align, bytes);
    if (memory)
        *to = memory;
    return memory ? 0 : ENOMEM;
}

void *mmap(void *where, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    if (fails(MMAP, ENOMEM))
        return (void *)-1;
    return (void *)syscall(SYS_mmap, where, bytes, protection, flags, fd, offset);
}

int ftruncate(int fd, off_t bytes)
{
    return fails(FTRUNCATE, ENOSPC) ? -1 : (int)syscall(SYS_ftruncate, fd, bytes);
}

int socket(int domain, int type, int protocol)
{
    return fails(SOCKET, EMFILE) ? -1 : (int)syscall(SYS_socket, domain, type, protocol);
}

int socketpair(int domain, int type, int protocol, int ends[2])
{
    return fails(SOCKET, EMFILE) ? -1 : (int)syscall(SYS_socketpair, domain, type, protocol, ends);
}

int memfd_create(const char *name, unsigned flags)
{
    return fails(MEMFD, EMFILE) ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}

pid_t fork(void)
{
    static pid_t (*real)(void);
    if (!real)
        real = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
    return fails(FORK, EAGAIN) ? -1 : real();
}

#ifdef __x86_64__
/* The child of vfork runs on the caller's stack, so the real function must be jumped to. */
void *failing_vfork;
int failing_vfork_fails(void);
int failing_vfork_fails(void)
{
    if (!failing_vfork)
        failing_vfork = dlsym(RTLD_NEXT, "vfork");
    return fails(FORK, EAGAIN);
}
__asm__(".globl vfork\n.type vfork, @function\nvfork:\n"
        "  sub $8, %rsp\n  call failing_vfork_fails@PLT\n  add $8, %rsp\n  test %eax, %eax\n  jne 1f\n"
        "  mov failing_vfork@GOTPCREL(%rip), %rax\n  jmp *(%rax)\n"
        "1: mov $-1, %rax\n  ret\n.size vfork, . - vfork\n");
#endif

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *argument)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!real)
        real =
            (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
    return fails(THREAD, EAGAIN) ? EAGAIN : real(thread, attr, start, argument);
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *mine, unsigned long nmine, const struct iovec *theirs,
                         unsigned long ntheirs, unsigned long flags)
{
    return fails(COPY, EPERM) ? -1 : syscall(SYS_process_vm_readv, pid, mine, nmine, theirs, ntheirs, flags);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *mine, unsigned long nmine, const struct iovec *theirs,
                          unsigned long ntheirs, unsigned long flags)
{
    return fails(COPY, EPERM) ? -1 : syscall(SYS_process_vm_writev, pid, mine, nmine, theirs, ntheirs, flags);
}

/* The C library's own calls do not come here. */
int open(const char *path, int flags, ...)
{
    va_list more_words;
    va_start(more_words, flags);
    const int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more_words, int) : 0;
    va_end(more_words);
    return fails(DESCRIPTOR, EMFILE) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int pipe2(int ends[2], int flags)
{
    return fails(DESCRIPTOR, EMFILE) ? -1 : (int)syscall(SYS_pipe2, ends, flags);
}

int accept4(int fd, struct sockaddr *address, socklen_t *bytes, int flags)
{
    return fails(DESCRIPTOR, EMFILE) ? -1 : (int)syscall(SYS_accept4, fd, address, bytes, flags);
}

int eventfd(unsigned count, int flags)
{
    return fails(DESCRIPTOR, EMFILE) ? -1 : (int)syscall(SYS_eventfd2, count, flags);
}

int timerfd_create(int clock, int flags)
{
    return fails(DESCRIPTOR, EMFILE) ? -1 : (int)syscall(SYS_timerfd_create, clock, flags);
}

int signalfd(int fd, const sigset_t *set, int flags)
{
    return fails(DESCRIPTOR, EMFILE) ? -1 : (int)syscall(SYS_signalfd4, fd, set, 8, flags);
}

int epoll_create1(int flags)
{
    return fails(DESCRIPTOR, EMFILE) ? -1 : (int)syscall(SYS_epoll_create1, flags);
}

/* To change or to end what epoll watches needs nothing that may be missing. */
int epoll_ctl(int epoll, int what, int fd, struct epoll_event *event)
{
    if (what == EPOLL_CTL_ADD && fails(DESCRIPTOR, ENOSPC))
        return -1;
    return (int)syscall(SYS_epoll_ctl, epoll, what, fd, event);
}

int fcntl(int fd, int what, ...)
{
    va_list more_words;
    va_start(more_words, what);
    const long word = va_arg(more_words, long);
    va_end(more_words);
    return fails(DESCRIPTOR, EMFILE) ? -1 : (int)syscall(SYS_fcntl, fd, what, word);
}

ssize_t getrandom(void *into, size_t bytes, unsigned flags)
{
    return fails(DESCRIPTOR, EAGAIN) ? -1 : syscall(SYS_getrandom, into, bytes, flags);
}
