/* Objects of an earlier life of the library: releasing them does nothing to what a later life has in their place.
 * pes: 1 2
 */
#include "check.h"

enum { BYTES = 4096, SEVEN = 7 };

static uccs_context_t context;

static char *allocate(uccs_memory_t *memory)
{
    struct uccs_memory_attr attr;
    OK(uccs_memory_allocate(context, BYTES, memory));
    OK(uccs_memory_query(*memory, &attr));
    return attr.address;
}

static void begin_life(void)
{
    check_start();
    OK(uccs_context_create(0, &context));
}

int main(void)
{
    char handle[UCCS_MEMORY_HANDLE_MAX];
    size_t length = sizeof handle;
    uccs_memory_t old, registered, first, second, again = 0;
    static char bytes[BYTES];
    begin_life();
    allocate(&old);
    OK(uccs_memory_register(context, bytes, sizeof bytes, &registered));
    OK(uccs_memory_export(registered, handle, &length));
    OK(uccs_finalize());

    begin_life();
    const int status = uccs_memory_import(context, handle, length, &again);
    CHECK(status == UCCS_ERR_STALE || status == UCCS_ERR_FORGED); /* it is of the earlier life */
    CHECK(!again);
    char *at = allocate(&first);
    memset(at, SEVEN, BYTES);
    OK(uccs_memory_release(old));
    OK(uccs_memory_release(registered));
    CHECK(allocate(&second) != at); /* the first one still has its memory */
    for (int i = 0; i < BYTES; i++)
        if (at[i] != SEVEN)
            CHECK_EQ(at[i], SEVEN);
    uccs_memory_t all[2];
    check_share(context, first, all); /* and its registration */
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (int pe = 0; pe < npes; pe++)
        OK(uccs_memory_release(all[pe]));
    OK(uccs_memory_release(first));
    OK(uccs_memory_release(second));
    return check_pass();
}
