// Finds the largest element over all PEs, for any type, in C++.
// Shows: the overloads of shmem_p, shmem_g, shmem_put and the atomics, which let templates work.
//   oshc++ maximum.cc -o maximum && oshrun -n 4 ./maximum
//
// The tests run it so:
//   prints: verified
#include <shmem.h>
#include <algorithm>
#include <cstdio>
#include <vector>

// Owns an array on the symmetric heap; made and destroyed by all PEs together.
template <typename T> class Symmetric {
public:
    explicit Symmetric(std::size_t count) : data_(static_cast<T *>(shmem_calloc(count, sizeof(T))))
    {
        if (data_ == nullptr)
            shmem_global_exit(1);
    }
    ~Symmetric() { shmem_free(data_); }
    Symmetric(const Symmetric &) = delete;
    Symmetric &operator=(const Symmetric &) = delete;
    T *get() { return data_; }
    T &operator[](std::size_t i) { return data_[i]; }

private:
    T *data_;
};

// Every PE sends its largest value to PE 0, which hands the result to all.
template <typename T> T maximum(const std::vector<T> &mine)
{
    int me = shmem_my_pe(), pes = shmem_n_pes();
    Symmetric<T> all(static_cast<std::size_t>(pes)), result(1);
    shmem_p(all.get() + me, *std::max_element(mine.begin(), mine.end()), 0);
    shmem_barrier_all();
    if (me == 0) {
        result[0] = *std::max_element(all.get(), all.get() + pes);
        for (int pe = 1; pe < pes; pe++)
            shmem_put(result.get(), result.get(), 1, pe);
    }
    shmem_barrier_all();
    return result[0];
}

// The largest is on the last PE: 100 * PE + 7. Counts the PEs that found it.
template <typename T> int check(Symmetric<int> &agreeing)
{
    std::vector<T> values;
    for (int i = 0; i < 8; i++)
        values.push_back(static_cast<T>(100 * shmem_my_pe() + i));
    if (maximum(values) == static_cast<T>(100 * (shmem_n_pes() - 1) + 7))
        shmem_atomic_inc(agreeing.get(), 0);
    shmem_barrier_all();
    return shmem_g(agreeing.get(), 0);
}

int main()
{
    shmem_init();
    int wrong;
    {
        Symmetric<int> agreeing(1);
        int pes = shmem_n_pes();
        wrong = check<long>(agreeing) != pes;
        shmem_barrier_all();
        wrong |= check<double>(agreeing) != 2 * pes;
        if (shmem_my_pe() == 0)
            std::printf("maximum: long and double on %d PEs, %s\n", pes, wrong ? "WRONG" : "verified");
    }
    shmem_finalize();
    return wrong;
}
