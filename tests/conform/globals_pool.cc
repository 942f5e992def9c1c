/* Global variables are symmetric when a static object of the program has started threads that store to globals before main.
 * pes: 2 4
 * prints: ^PASS$
 */
#include <shmem.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace {

std::string text = "made before main";
long inbox[64];

class Pool {
public:
    Pool()
    {
        for (long &own : counted)
            threads.emplace_back([this, &own] {
                for (long round = 0; !stop; own = ++round)
                    if (own != round)
                        lost = true;
            });
    }
    bool end()
    {
        stop = true;
        for (std::thread &thread : threads)
            thread.join();
        return !lost;
    }

private:
    long counted[3] = {};
    std::atomic<bool> stop{false}, lost{false};
    std::vector<std::thread> threads;
};

Pool pool;

} // namespace

int main()
{
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    const int me = shmem_my_pe(), npes = shmem_n_pes();
    for (int pe = 0; pe < npes; pe++)
        shmem_p(&inbox[me], 10L + me, pe);
    shmem_barrier_all();
    bool good = text == "made before main" && pool.end();
    for (int pe = 0; pe < npes; pe++)
        good = good && inbox[pe] == 10 + pe;
    if (!good)
        shmem_global_exit(1);
    shmem_barrier_all();
    if (me == 0)
        std::puts("PASS");
    shmem_finalize();
    return 0;
}
