/* The substrate's memory for making.c: objects that are counted, holds on the program's memory, and what is attached. */
#ifndef MPI_TEST_MAKING_MEMORY_H
#define MPI_TEST_MAKING_MEMORY_H

struct uccs_region {
    char *map; /* null: not mapped here */
    size_t length;
    int owner;              /* in the world */
    struct uccs_region *of; /* imported: the owner's; null: released there */
    char *registered;
};
static int objects;         /* that are there */
static int makes_left = -1; /* until an allocation, an export, or an import fails; -1: none does */
static int exports_left = -1, imports_left = -1;
static int holds, registers_fail, dynamic_fails, attaches_left = -1, guests_refused, import_status = UCCS_ERR_FORGED;
static bool intrinsic = true;

static bool fails(int *left)
{
    return *left >= 0 && (*left)-- == 0;
}

static uccs_memory_t object(char *map, size_t length, int owner, uccs_memory_t of)
{
    uccs_memory_t made = malloc(sizeof *made);
    CHECK(made != 0);
    *made = (struct uccs_region){map, length, owner, of, 0};
    objects++;
    return made;
}

int uccs_memory_allocate(uccs_context_t context, size_t length, uccs_memory_t *memory)
{
    CHECK(context == lmpi_life.context);
    if (fails(&makes_left))
        return UCCS_ERR_NO_MEMORY;
    char *map = aligned_alloc(64, (length + 63) & ~(size_t)63);
    CHECK(map != 0);
    memset(map, 0, length);
    *memory = object(map, length, WORLD + ME, 0);
    return UCCS_OK;
}

int uccs_memory_export(uccs_memory_t memory, void *handle, size_t *length)
{
    CHECK(*length == UCCS_MEMORY_HANDLE_MAX && memory);
    if (fails(&exports_left))
        return UCCS_ERR_NO_MEMORY;
    memset(handle, 0, 16);
    memcpy(handle, &memory, sizeof memory);
    *length = 16;
    return UCCS_OK;
}

int uccs_memory_import(uccs_context_t context, const void *handle, size_t length, uccs_memory_t *memory)
{
    uccs_memory_t of;
    CHECK(context == lmpi_life.context && (length == 16 || length == UCCS_MEMORY_HANDLE_MAX));
    if (fails(&imports_left))
        return import_status;
    memcpy(&of, handle, sizeof of);
    *memory = object(of->map, of->length, of->owner, of);
    return UCCS_OK;
}

int uccs_memory_query(uccs_memory_t memory, struct uccs_memory_attr *attr)
{
    *attr = (struct uccs_memory_attr){.address = memory->map, .length = memory->length, .owner = memory->owner};
    return UCCS_OK;
}

int uccs_memory_release(uccs_memory_t memory)
{
    CHECK(memory != 0);
    if (!memory->of && !memory->registered)
        free(memory->map);
    free(memory);
    objects--;
    return UCCS_OK;
}

int uccs_memory_register(uccs_context_t context, void *address, size_t length, uccs_memory_t *memory)
{
    CHECK(context == lmpi_life.context);
    if (registers_fail)
        return UCCS_ERR_NO_MEMORY;
    *memory = object(address, length, WORLD + ME, 0);
    (*memory)->registered = address;
    return UCCS_OK;
}

int uccs_memory_dynamic(uccs_context_t context, uccs_memory_t *memory)
{
    CHECK(context == lmpi_life.context);
    if (dynamic_fails)
        return UCCS_ERR_NO_MEMORY;
    *memory = object(0, 0, WORLD + ME, 0);
    return UCCS_OK;
}

static char *attached_at[8];
static uccs_memory_t attached_held[8];
static size_t attached_bytes[8], attached_offset[8];
static int attached;

int uccs_memory_attach_as(uccs_memory_t memory, void *address, size_t length, uccs_memory_t held, size_t offset)
{
    CHECK(memory && memory->length == 0 && attached < 8);
    if (fails(&attaches_left))
        return UCCS_ERR_INVALID;
    attached_at[attached] = address;
    attached_held[attached] = held;
    attached_bytes[attached] = length;
    attached_offset[attached++] = offset;
    return UCCS_OK;
}

int uccs_memory_attach(uccs_memory_t memory, void *address, size_t length)
{
    return uccs_memory_attach_as(memory, address, length, 0, 77);
}

int uccs_memory_detach(uccs_memory_t memory, void *address)
{
    CHECK(memory && memory->length == 0);
    for (int i = 0; i < attached; i++)
        if (attached_at[i] == address) {
            attached_at[i] = 0;
            note(DETACHED, i, 0);
            return UCCS_OK;
        }
    CHECK(!"what is detached is attached");
    return UCCS_ERR_INVALID;
}

int uccs_lock_admit_guests(uccs_memory_t memory, size_t offset)
{
    CHECK(memory && offset == LMPI_WORD(lock));
    note(ADMITTED, 0, 0);
    return guests_refused ? UCCS_ERR_INVALID : UCCS_OK;
}

int uccs_accumulate_intrinsic(uccs_endpoint_t endpoint, uccs_memory_t memory, enum uccs_type type,
                              enum uccs_reduction how)
{
    CHECK(endpoint && memory && type == UCCS_INT64 && how == UCCS_SUM);
    return intrinsic;
}

/* ---- pieces of memory: those that were made drop; a hold has one part, or more where a test says so ---- */

static uccs_memory_t made_here[8], held_memory;
static int parts = 1;

void *lmpi_memory_make(size_t bytes, uccs_memory_t *memory)
{
    if (uccs_memory_allocate(lmpi_life.context, bytes ? bytes : 1, memory) != UCCS_OK)
        return 0;
    for (int i = 0; i < 8; i++)
        if (!made_here[i]) {
            made_here[i] = *memory;
            break;
        }
    return (*memory)->map;
}

bool lmpi_memory_drop(uccs_memory_t memory)
{
    for (int i = 0; i < 8; i++)
        if (memory && made_here[i] == memory) {
            made_here[i] = 0;
            uccs_memory_release(memory);
            return true;
        }
    return false;
}

struct lmpi_hold *lmpi_memory_hold(void *address, size_t bytes)
{
    if (!parts)
        return 0;
    struct lmpi_hold *hold = calloc(1, sizeof *hold + (size_t)parts * sizeof *hold->part);
    CHECK(hold != 0);
    hold->address = address;
    hold->n = (size_t)parts;
    for (int i = 0; i < parts; i++)
        hold->part[i] = (struct lmpi_part){.address = (char *)address + i * 16,
                                           .bytes = i == parts - 1 ? bytes - 16 * (size_t)i : 16,
                                           .memory = i % 2 ? held_memory : 0,
                                           .offset = i % 2 ? 32 : 0};
    holds++;
    return hold;
}

void lmpi_memory_let_go(struct lmpi_hold *hold)
{
    holds -= hold != 0;
    free(hold);
}

#endif
