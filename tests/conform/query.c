/* Library queries: my_pe, n_pes, pe_accessible, addr_accessible, ptr, info_get_version, info_get_name.
 * prints: ^PASS$
 */
#include "check.h"

static int global = 3, array[100];
int common_global;
static const char literal[] = "read only";

static void numbers(void)
{
    static int seen[64];
    CHECK(npes >= 1 && me >= 0 && me < npes);
    for (int pe = 0; pe < npes; pe++)
        shmem_int_atomic_inc(&seen[me], pe);
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        CHECK_EQ(seen[pe], 1); /* every number once */
    CHECK_EQ(shmem_my_pe(), me);
    CHECK_EQ(shmem_team_my_pe(SHMEM_TEAM_WORLD), me);
    CHECK_EQ(shmem_team_n_pes(SHMEM_TEAM_WORLD), npes);
}

static void accessible(void)
{
    int local = 0;
    static __thread int of_thread;
    char *heap = check_alloc(100), *private_heap = malloc(100);
    CHECK_EQ(shmem_pe_accessible(-1), 0);
    CHECK_EQ(shmem_pe_accessible(npes), 0);
    CHECK_EQ(shmem_pe_accessible(INT32_MAX), 0);
    for (int pe = 0; pe < npes; pe++) {
        CHECK_EQ(shmem_pe_accessible(pe), 1);
        CHECK_EQ(shmem_addr_accessible(&global, pe), 1);
        CHECK_EQ(shmem_addr_accessible(&array[99], pe), 1);
        CHECK_EQ(shmem_addr_accessible(&common_global, pe), 1);
        CHECK_EQ(shmem_addr_accessible(heap, pe), 1);
        CHECK_EQ(shmem_addr_accessible(heap + 99, pe), 1);
        CHECK_EQ(shmem_addr_accessible(&local, pe), 0);
        CHECK_EQ(shmem_addr_accessible(private_heap, pe), 0);
        CHECK_EQ(shmem_addr_accessible(&of_thread, pe), 0);
        CHECK_EQ(shmem_addr_accessible(NULL, pe), 0);
    }
    shmem_barrier_all();
    shmem_free(heap);
    free(private_heap);
}

/* A pointer to a peer's object reads and writes that object; a null pointer is the other answer allowed. */
static void pointers(int *object)
{
    *object = 10 + me;
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++) {
        int *there = shmem_ptr(object, pe);
        CHECK(shmem_team_ptr(SHMEM_TEAM_WORLD, object, pe) == there);
        if (there != NULL)
            CHECK_EQ(*there, 10 + pe);
    }
    shmem_barrier_all();
    int *there = shmem_ptr(object, next_pe);
    if (there != NULL)
        *there = 50 + me;
    else
        shmem_int_p(object, 50 + me, next_pe);
    shmem_barrier_all();
    CHECK_EQ(*object, 50 + prev_pe);
    shmem_barrier_all();
}

/* What is not symmetric has no pointer; a team of shared memory has all pointers into the heap. */
static void no_pointers(int *heap)
{
    int local = 0;
    CHECK(shmem_ptr(&local, next_pe) == NULL);
    CHECK(shmem_ptr(NULL, next_pe) == NULL);
    CHECK(shmem_team_ptr(SHMEM_TEAM_INVALID, heap, 0) == NULL);
    int shared = shmem_team_n_pes(SHMEM_TEAM_SHARED);
    CHECK(shared >= 1 && shared <= npes);
    for (int pe = 0; pe < shared; pe++) {
        int *there = shmem_team_ptr(SHMEM_TEAM_SHARED, heap, pe);
        int world = shmem_team_translate_pe(SHMEM_TEAM_SHARED, pe, SHMEM_TEAM_WORLD);
        CHECK(there != NULL && world >= 0);
        CHECK(there == shmem_ptr(heap, world));
    }
    CHECK(shmem_ptr(heap, me) != NULL);
}

static void version_and_name(void)
{
    int major = -1, minor = -1;
    char name[SHMEM_MAX_NAME_LEN + 4];
    memset(name, 'x', sizeof name);
    shmem_info_get_version(&major, &minor);
    CHECK_EQ(major, SHMEM_MAJOR_VERSION);
    CHECK_EQ(minor, SHMEM_MINOR_VERSION);
    CHECK(major == 1 && minor == 6);
    shmem_info_get_name(name);
    CHECK(memchr(name, 0, SHMEM_MAX_NAME_LEN) != NULL);
    CHECK(strcmp(name, SHMEM_VENDOR_STRING) == 0 && strlen(name) > 0);
    CHECK(memcmp(name + SHMEM_MAX_NAME_LEN, "xxxx", 4) == 0);
}

int main(void)
{
    check_start();
    numbers();
    accessible();
    int *heap = check_alloc(sizeof(int));
    pointers(heap);
    pointers(&global);
    pointers(&array[57]);
    no_pointers(heap);
    shmem_free(heap);
    version_and_name();
    CHECK(literal[0] == 'r');
    return check_pass();
}
