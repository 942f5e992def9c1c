/* uccs_memory_allocate goes beyond LATERAL_MEMORY; memory is zeroed, also where it was used before,
 * in this life or an earlier one; peers reach it.
 * pes: 1 2
 * env: LATERAL_MEMORY=1m
 */
#include "check.h"

enum { MEGABYTE = 1 << 20, LARGE = 256 * MEGABYTE, STEP = 4 * MEGABYTE + 4096, SMALL = 5000 };

static uccs_context_t context;

static char *address_of(uccs_memory_t memory)
{
    struct uccs_memory_attr attr;
    OK(uccs_memory_query(memory, &attr));
    CHECK(attr.address != 0);
    return attr.address;
}

static void check_zero(const char *bytes, size_t length, size_t step)
{
    for (size_t i = 0; i < length; i += step)
        CHECK_EQ(bytes[i], 0);
    CHECK_EQ(bytes[length - 1], 0);
}

static void test_again(size_t length, size_t dirt)
{
    uccs_memory_t memory, small;
    for (int round = 0; round < 3; round++) {
        OK(uccs_memory_allocate(0, length, &memory));
        OK(uccs_memory_allocate(0, SMALL, &small));
        check_zero(address_of(memory), length, (dirt + 1) / 2);
        check_zero(address_of(small), SMALL, 1);
        for (size_t i = 0; i < length; i += dirt)
            address_of(memory)[i] = 1;
        address_of(memory)[length - 1] = 1;
        memset(address_of(small), 1, SMALL);
        OK(uccs_memory_release(memory));
        OK(uccs_memory_release(small));
    }
}

/* The next life has the same pages. */
static void test_next_life(void)
{
    uccs_memory_t memory;
    OK(uccs_memory_allocate(0, STEP, &memory));
    memset(address_of(memory), 1, STEP);
    OK(uccs_finalize());
    OK(uccs_memory_release(memory));
    OK(uccs_init());
    OK(uccs_memory_allocate(0, STEP, &memory));
    check_zero(address_of(memory), STEP, 8);
    OK(uccs_memory_release(memory));
}

int main(void)
{
    uccs_memory_t large, more, *all;
    check_start();
    OK(uccs_context_create(0, &context));
    uccs_endpoint_t next = check_endpoint(context, next_pe);
    all = calloc((size_t)npes, sizeof *all);
    OK(uccs_memory_allocate(0, LARGE, &large));
    OK(uccs_memory_allocate(0, LARGE, &more));
    check_share(context, large, all);
    long value = 42 + me;
    OK(uccs_put_short_contiguous(context, next, all[next_pe], LARGE - 8, &value, 8, 0));
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    CHECK_EQ(*(long *)(address_of(large) + LARGE - 8), 42 + prev_pe);
    OK(uccs_memory_release(more));
    test_again(STEP, 4096);
    test_again(3000, 1);
    test_again(LARGE, STEP);
    CHECK_EQ(uccs_memory_allocate(0, SIZE_MAX / 2, &more), UCCS_ERR_NO_MEMORY);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (int pe = 0; pe < npes; pe++)
        OK(uccs_memory_release(all[pe]));
    OK(uccs_memory_release(large));
    OK(uccs_context_destroy(context));
    test_next_life();
    free(all);
    return check_pass();
}
