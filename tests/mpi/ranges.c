/* Tens of thousands of ranges of a dynamic window come and go in any order while a peer reads others: what stays is always
 * found, what is gone is refused, and so are ranges that overlap one and detaches of what is not attached.
 * ranks: 2 */
#include "check.h"

enum { SLOTS = 32768, STEP = 64, RANGE = 48, TURNS = 100000, ALWAYS = 4 };

static MPI_Win win;
static char *memory;
static unsigned char attached[SLOTS];
static MPI_Aint theirs;

static uint32_t next_random(void)
{
    static uint64_t state = 12345;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33);
}

static void attach(uint32_t slot)
{
    const int status = MPI_Win_attach(win, memory + (size_t)slot * STEP, RANGE);
    CHECK_EQ(error_class(status), attached[slot] ? MPI_ERR_RMA_ATTACH : MPI_SUCCESS);
    attached[slot] = 1;
}

static void detach(uint32_t slot)
{
    const int status = MPI_Win_detach(win, memory + (size_t)slot * STEP);
    CHECK_EQ(error_class(status), attached[slot] ? MPI_SUCCESS : MPI_ERR_RMA_ATTACH);
    attached[slot] = 0;
}

/* Slots go and come; every fourth stays. */
static void change_ranges(void)
{
    for (uint32_t i = 0; i < TURNS; i++) {
        const uint32_t slot = next_random() % SLOTS;
        char *at = memory + (size_t)slot * STEP;
        if (slot % ALWAYS == 0)
            continue;
        if (next_random() % 2)
            attach(slot);
        else
            detach(slot);
        if (attached[slot] && i % 8 == 0) {
            CHECK_EQ(error_class(MPI_Win_attach(win, at + RANGE - 1, 1)), MPI_ERR_RMA_ATTACH);
            CHECK_EQ(error_class(MPI_Win_attach(win, at - 8, 16)), MPI_ERR_RMA_ATTACH);
            CHECK_EQ(error_class(MPI_Win_detach(win, at + 8)), MPI_ERR_RMA_ATTACH);
        }
    }
}

static int get(uint32_t slot, int64_t *value)
{
    const int status =
        MPI_Get(value, 1, MPI_INT64_T, next_rank, MPI_Aint_add(theirs, (MPI_Aint)slot * STEP), 1, MPI_INT64_T, win);
    OK(MPI_Win_flush(next_rank, win));
    return error_class(status);
}

static void read_what_stays(void)
{
    for (int i = 0; i < TURNS / 20; i++) {
        const uint32_t slot = next_random() % (SLOTS / ALWAYS) * ALWAYS;
        int64_t value = -1;
        CHECK_EQ(get(slot, &value), MPI_SUCCESS);
        CHECK_EQ(value, slot);
    }
}

static void read_all(void)
{
    static unsigned char there[SLOTS];
    OK(MPI_Sendrecv(attached, SLOTS, MPI_BYTE, next_rank, 0, there, SLOTS, MPI_BYTE, next_rank, 0, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    for (uint32_t slot = 0; slot < SLOTS; slot += 1 + next_random() % 7) {
        int64_t value = -1;
        CHECK_EQ(get(slot, &value), there[slot] ? MPI_SUCCESS : MPI_ERR_RMA_RANGE);
        CHECK_EQ(value, there[slot] ? (long)slot : -1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Ranges without bytes are taken, and given back as often. */
static void empty(void)
{
    OK(MPI_Win_attach(win, memory + 1, 0));
    OK(MPI_Win_attach(win, memory + 1, 0));
    OK(MPI_Win_detach(win, memory + 1));
    OK(MPI_Win_detach(win, memory + 1));
    CHECK_EQ(error_class(MPI_Win_detach(win, memory + 1)), MPI_ERR_RMA_ATTACH);
}

int main(void)
{
    MPI_Aint mine;
    check_start(MPI_THREAD_SINGLE);
    memory = calloc(SLOTS + 1, STEP);
    CHECK(memory != 0);
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    for (uint32_t i = 0; i < SLOTS; i++) {
        const uint32_t slot = i % 2 ? SLOTS - 1 - i / 2 : i / 2;
        *(int64_t *)(memory + (size_t)slot * STEP) = slot;
        attach(slot);
    }
    MPI_Get_address(memory, &mine);
    OK(MPI_Sendrecv(&mine, 1, MPI_AINT, next_rank, 0, &theirs, 1, MPI_AINT, next_rank, 0, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    OK(MPI_Win_lock_all(0, win));
    if (me == 0)
        change_ranges();
    else
        read_what_stays();
    read_all();
    OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (attached[slot])
            detach(slot);
    empty();
    OK(MPI_Win_free(&win));
    free(memory);
    return check_pass();
}
