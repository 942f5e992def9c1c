/* Memory objects of the substrate for ranges of the program's memory (memory.h). */
#include "memory.h"

#include "life.h"

/* Registers a part at the address where the node maps it. */
static int register_part(const struct lmpi_part *part, uccs_memory_t *memory)
{
    struct uccs_memory_attr attr;
    char *address = part->address;
    if (part->memory && uccs_memory_query(part->memory, &attr) == UCCS_OK)
        address = (char *)attr.address + part->offset;
    return uccs_memory_register(lmpi_life.context, address, part->bytes, memory);
}

int lmpi_hold_attach(const struct lmpi_hold *hold, uccs_memory_t dynamic)
{
    for (size_t i = 0; i < hold->n; i++) {
        const struct lmpi_part *part = &hold->part[i];
        int status = part->memory
                         ? uccs_memory_attach_as(dynamic, part->address, part->bytes, part->memory, part->offset)
                         : uccs_memory_attach(dynamic, part->address, part->bytes);
        if (status == UCCS_OK)
            continue;
        while (i--)
            uccs_memory_detach(dynamic, hold->part[i].address);
        return status;
    }
    return UCCS_OK;
}

void lmpi_hold_detach(const struct lmpi_hold *hold, uccs_memory_t dynamic)
{
    for (size_t i = 0; i < hold->n; i++)
        uccs_memory_detach(dynamic, hold->part[i].address);
}

int lmpi_hold_object(const struct lmpi_hold *hold, uccs_memory_t *memory, size_t *offset)
{
    *offset = 0;
    if (hold->n == 1)
        return register_part(&hold->part[0], memory);
    int status = uccs_memory_dynamic(lmpi_life.context, memory);
    if (status != UCCS_OK)
        return status;
    *offset = (size_t)hold->address;
    status = lmpi_hold_attach(hold, *memory);
    if (status != UCCS_OK)
        uccs_memory_release(*memory);
    return status;
}
