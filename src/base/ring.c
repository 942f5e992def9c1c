/* Each cell counts its turns: 2*lap means free for the producer of that lap, 2*lap + 1 full for its consumer. Position
 * p lies in cell p mod cells, in lap p / cells. Positions have 64 bits and do not wrap in the life of a job.
 *
 * The orders suffice, on a weak memory too:
 * - Payload, producer to consumer: commit stores the turn with release after the producer wrote the payload; take loads
 *   the turn with acquire before the consumer reads the payload.
 * - Payload, consumer to the next lap's producer: release stores the turn with release after the consumer read the
 *   payload; reserve loads it with acquire before the producer overwrites the payload.
 * - head and tail carry no data. They only hand out positions, each to one caller, which needs an atomic
 *   read-modify-write and no order. A stale tail is caught: either its cell's turn is that of a later lap, or the
 *   compare and swap fails.
 * - claim hands out a position only when its cell has the right turn already, and no other caller can change that turn.
 *   So a reserved cell never has to wait. */
#include "base/ring.h"

#include <stdint.h>

struct cell {
    uint64_t turn;
    char payload[];
};

static struct cell *cell_at(const struct ring *r, uint64_t position)
{
    return (struct cell *)((char *)r->cell + (position & (r->cells - 1)) * (size_t)r->stride);
}

static uint64_t free_turn(const struct ring *r, uint64_t position)
{
    return position >> r->shift << 1;
}

static uint32_t stride_of(uint32_t cell_bytes)
{
    return (uint32_t)((sizeof(struct cell) + cell_bytes + CACHE_LINE - 1) & ~(uint32_t)(CACHE_LINE - 1));
}

size_t ring_size(uint32_t cells, uint32_t cell_bytes)
{
    return sizeof(struct ring) + (size_t)cells * stride_of(cell_bytes);
}

struct ring *ring_format(void *memory, uint32_t cells, uint32_t cell_bytes)
{
    struct ring *r = memory;
    r->cells = cells;
    r->shift = (uint32_t)__builtin_ctz(cells);
    r->stride = stride_of(cell_bytes);
    r->cell_bytes = cell_bytes;
    return r;
}

/* Takes the next position of `counter` if its cell shows `phase` (0 free, 1 full) now. Returns the cell or null. */
static struct cell *claim(struct ring *r, uint64_t *counter, unsigned phase, uint64_t *ticket)
{
    uint64_t position = atomic_load_relaxed(counter); /* a hint */
    for (;;) {
        struct cell *cell = cell_at(r, position);
        uint64_t wanted = free_turn(r, position) + phase;
        uint64_t turn = atomic_load_acquire(&cell->turn); /* partner: pass_turn */
        if (turn == wanted) {
            if (atomic_cas_relaxed(counter, &position, position + 1)) {
                *ticket = position;
                return cell;
            }
        } else if ((int64_t)(turn - wanted) < 0) {
            return NULL; /* full or empty */
        } else {
            position = atomic_load_relaxed(counter); /* other callers were faster */
        }
    }
}

static void pass_turn(struct ring *r, uint64_t ticket, unsigned turn)
{
    atomic_store_release(&cell_at(r, ticket)->turn, free_turn(r, ticket) + turn); /* partner: claim */
}

void *ring_reserve(struct ring *r, uint64_t *ticket)
{
    struct cell *cell = claim(r, &r->tail, 0, ticket);
    return cell ? cell->payload : NULL;
}

void ring_commit(struct ring *r, uint64_t ticket)
{
    pass_turn(r, ticket, 1);
}

void *ring_take(struct ring *r, uint64_t *ticket)
{
    struct cell *cell = claim(r, &r->head, 1, ticket);
    return cell ? cell->payload : NULL;
}

void ring_release(struct ring *r, uint64_t ticket)
{
    pass_turn(r, ticket, 2); /* free in the next lap */
}

bool ring_is_empty(const struct ring *r)
{
    uint64_t position = atomic_load_relaxed(&r->head);
    uint64_t turn = atomic_load_relaxed(&cell_at(r, position)->turn); /* a hint: ring_take decides */
    return (int64_t)(turn - free_turn(r, position) - 1) < 0;
}
