/* Memory handles of uccs.h from elsewhere, some of them under the right hash: an import refuses them or is of memory that can
 * be read. */
#include "fuzz/fuzz.h"
#include "fuzz/world.h"

#include "base/siphash.h"
#include "rte/rte.h"

#include <uccs.h>

enum { HASHED = 56, WHOLE = 64 }; /* bytes of a handle before its hash, and with it */

static uccs_context_t context;
static unsigned char handle[UCCS_MEMORY_HANDLE_MAX];

static void import_it(void *length)
{
    struct uccs_memory_attr attr;
    uccs_memory_t memory;
    if (uccs_memory_import(context, handle, *(size_t *)length, &memory) != UCCS_OK)
        return;
    (void)uccs_memory_query(memory, &attr);
    uccs_memory_release(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int opened;
    uccs_memory_t mine;
    size_t length = sizeof handle;
    if (!opened++) {
        world_open();
        const struct uccs_context_attr attr = {.id = 1};
        if (uccs_context_create(&attr, &context) != UCCS_OK)
            return 0;
    }
    static char bytes[256];
    if (size < 1 || uccs_memory_register(context, bytes, sizeof bytes, &mine) != UCCS_OK)
        return 0;
    (void)uccs_memory_export(mine, handle, &length);
    for (size_t i = 1; i + 1 < size; i += 2) /* an input changes bytes of a good handle */
        handle[data[i] % HASHED] = data[i + 1];
    if (data[0] & 1) {
        const uint64_t hash = siphash(rte.node->nonce, handle, HASHED);
        memcpy(handle + HASHED, &hash, sizeof hash);
    }
    length = data[0] & 2 ? size % sizeof handle : (size_t)WHOLE;
    if (world_try(import_it, &length))
        world_reset(); /* it asks another PE, which does not answer */
    uccs_memory_release(mine);
    return 0;
}
