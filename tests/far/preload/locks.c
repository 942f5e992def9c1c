/* Preloaded into programs with threads: a mutex that liblateral unlocks must be held by the calling thread, and one that it
 * locks must not. A breach ends the process with a line. Not a program. */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int (*real_lock)(pthread_mutex_t *), (*real_unlock)(pthread_mutex_t *);
static uintptr_t start, end; /* of liblateral's code */

static int find(struct dl_phdr_info *object, size_t bytes, void *unused)
{
    (void)bytes, (void)unused;
    if (!strstr(object->dlpi_name, "/liblateral.so"))
        return 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
            start = object->dlpi_addr + part->p_vaddr;
            end = start + part->p_memsz;
        }
    }
    return 1;
}

__attribute__((constructor)) static void begin(void)
{
    real_lock = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
    real_unlock = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    dl_iterate_phdr(find, 0);
}

static int is_lateral(const void *caller)
{
    return (uintptr_t)caller - start < end - start;
}

/* glibc keeps the holder of every mutex of the usual kind. */
static int is_mine(const pthread_mutex_t *mutex)
{
    static _Thread_local int me;
    if (!me)
        me = (int)syscall(SYS_gettid);
    return mutex->__data.__owner == me;
}

static void complain(const char *what, const char *caller)
{
    char line[256];
    Dl_info info = {0};
    dladdr(caller, &info);
    int bytes = snprintf(line, sizeof line, "locks.c: not true: %s (at liblateral.so+0x%zx)\n", what,
                         (size_t)(caller - (const char *)info.dli_fbase));
    (void)!write(2, line, (size_t)bytes);
    _exit(70);
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    const char *caller = __builtin_return_address(0);
    if (!real_lock)
        begin();
    if (is_lateral(caller) && is_mine(mutex))
        complain("the thread that locks a mutex does not hold it already", caller);
    return real_lock(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    const char *caller = __builtin_return_address(0);
    if (!real_unlock)
        begin();
    if (is_lateral(caller) && !is_mine(mutex))
        complain("the thread that unlocks a mutex holds it", caller);
    return real_unlock(mutex);
}
