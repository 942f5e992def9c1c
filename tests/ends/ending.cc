/* A program that ends in one of many ways while its handlers of the end call OpenSHMEM: ending WHERE CALLS END
 *
 *   WHERE  of the calls: none, before, onexit (handlers registered before shmem_init), after, local (after it), static, tls,
 *          quick (at_quick_exit), library (destructor of a shared library)
 *   CALLS  in this order: pe put get barrier free finalize gexit crash abort say sleep join, joined by commas
 *   END    how the program ends, see leave()
 *
 * The table in check_endings.py says what must come of it. */
#include <shmem.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <unistd.h>

static const char *where, *calls; /* no strings: those do not live until the destructors of libraries */
static long *block, flag;
static pthread_t worker;

static void one_call(const std::string &call)
{
    if (call == "pe")
        printf("pe %d of %d\n", shmem_my_pe(), shmem_n_pes());
    else if (call == "put")
        shmem_long_p(block, 1, 0), shmem_quiet();
    else if (call == "get")
        printf("got %ld\n", shmem_long_g(block, 0));
    else if (call == "barrier")
        shmem_barrier_all();
    else if (call == "free")
        shmem_free(block);
    else if (call == "finalize")
        shmem_finalize();
    else if (call == "gexit")
        shmem_global_exit(9);
    else if (call == "crash")
        raise(SIGSEGV);
    else if (call == "abort")
        abort();
    else if (call == "sleep")
        usleep(3000000);
    else if (call == "join")
        pthread_join(worker, nullptr);
    else if (call == "say")
        puts("handled");
    else
        puts("no such call"), _exit(99);
}

static void make_calls()
{
    for (const char *at = calls; *at;) {
        const size_t length = strcspn(at, ",");
        one_call(std::string(at, length));
        at += length + (at[length] == ',');
    }
}

static void make_calls_on_exit(int, void *)
{
    make_calls();
}

struct At {
    const char *here;
    ~At()
    {
        if (where && strcmp(where, here) == 0)
            make_calls();
    }
};

extern "C" void (*ending_in_library)(void); /* library.c: its destructor calls it */

static At in_static = {"static"};
static thread_local At in_thread = {"tls"};

static void *communicate(void *)
{
    for (;;) {
        shmem_long_p(block, 2, 0);
        shmem_quiet();
        shmem_long_g(block, shmem_n_pes() - 1);
    }
    return nullptr;
}

static void *wait_for_ever(void *)
{
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    return nullptr;
}

static void *exit_5(void *)
{
    exit(5);
}

static void *exit_0(void *)
{
    exit(0);
}

static void *finalize_late(void *)
{
    usleep(50000);
    shmem_finalize();
    return nullptr;
}

static void *global_exit_7(void *)
{
    shmem_global_exit(7);
}

static void start(void *(*run)(void *))
{
    if (pthread_create(&worker, nullptr, run, nullptr) != 0)
        _exit(98);
}

/* The ends of PE 0 alone; the others wait, in a barrier or for a flag. */
static int leave_alone(const std::string &how, const std::string &others)
{
    if (shmem_my_pe() != 0) {
        if (others == "barrier")
            shmem_barrier_all();
        if (others == "exit")
            exit(0);
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    }
    if (how == "exit0")
        exit(0);
    if (how == "exit5")
        exit(5);
    if (how == "gexit7")
        shmem_global_exit(7);
    if (how == "gexit0")
        shmem_global_exit(0);
    if (how == "waited7") { /* another thread of this PE is in a wait that does not end */
        start(wait_for_ever);
        usleep(50000);
        shmem_global_exit(7);
    }
    if (how == "thread5")
        start(exit_5), communicate(nullptr);
    if (how == "thread7")
        start(global_exit_7), communicate(nullptr);
    if (how == "busy5")
        start(communicate), usleep(50000), exit(5);
    if (how == "busy7")
        start(communicate), usleep(50000), shmem_global_exit(7);
    if (how == "crash")
        raise(SIGSEGV);
    if (how == "kill")
        raise(SIGKILL);
    if (how == "term")
        raise(SIGTERM);
    if (how == "abort")
        abort();
    if (how == "throw")
        throw std::runtime_error("nobody catches this");
    if (how == "_exit0")
        _exit(0);
    if (how == "_exit5")
        _exit(5);
    if (how == "quick0")
        quick_exit(0);
    if (how == "quick5")
        quick_exit(5);
    if (how == "exec")
        execl("/bin/true", "true", (char *)nullptr);
    return 97;
}

/* The ends of all PEs. */
static int leave(const std::string &how)
{
    const size_t slash = how.find('/');
    if (slash != std::string::npos)
        return leave_alone(how.substr(0, slash), how.substr(slash + 1));
    if (how == "return0")
        return 0;
    if (how == "return5")
        return 5;
    if (how == "exit0")
        exit(0);
    if (how == "thread0")
        start(exit_0), pause();
    if (how == "busy0")
        start(communicate), usleep(50000), exit(0);
    if (how == "pthread_exit")
        start(finalize_late), pthread_exit(nullptr);
    if (how == "finalize_pthread_exit")
        shmem_finalize(), pthread_exit(nullptr);
    if (how == "finalize")
        shmem_finalize();
    if (how == "finalize5")
        return shmem_finalize(), 5;
    if (how == "finalize_exit")
        shmem_finalize(), _exit(0);
    if (how == "finalize_quick")
        shmem_finalize(), quick_exit(0);
    if (how == "finalize_gexit") {
        const int me = shmem_my_pe();
        shmem_finalize();
        if (me == 0)
            shmem_global_exit(7);
        pause();
    }
    if (how == "quick0")
        quick_exit(0);
    if (how == "gexit7")
        shmem_global_exit(7);
    return 0;
}

int main(int argc, char **argv)
{
    int provided;
    if (argc < 4)
        return 96;
    where = argv[1];
    calls = argv[2];
    in_thread.here = "tls";
    if (strcmp(where, "before") == 0)
        atexit(make_calls);
    if (strcmp(where, "onexit") == 0)
        on_exit(make_calls_on_exit, nullptr);
    if (strcmp(where, "library") == 0)
        ending_in_library = make_calls;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    block = static_cast<long *>(shmem_malloc(sizeof *block));
    *block = 4;
    if (strcmp(where, "after") == 0)
        atexit(make_calls);
    if (strcmp(where, "quick") == 0)
        at_quick_exit(make_calls);
    static At local = {"local"};
    (void)local;
    shmem_barrier_all();
    return leave(argv[3]);
}
