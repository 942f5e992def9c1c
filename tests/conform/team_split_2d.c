/* Teams: split_2d. Coordinates, sizes of rows and columns, incomplete last row, xrange beyond the size, invalid parent,
 * configurations that differ between rows.
 * prints: ^PASS$
 */
#include "check.h"

static void grid(shmem_team_t parent, int xrange)
{
    shmem_team_config_t config = {.num_contexts = 0};
    shmem_team_t x = SHMEM_TEAM_WORLD, y = SHMEM_TEAM_WORLD;
    int n = shmem_team_n_pes(parent), pe = shmem_team_my_pe(parent), wide = xrange < n ? xrange : n;
    int column = pe % wide, row = pe / wide, rows = (n + wide - 1) / wide;
    int row_size = row == rows - 1 ? n - row * wide : wide;
    int column_size = rows - (column >= n - (rows - 1) * wide);
    config.num_contexts = row; /* the same in each row only, each column its own */
    CHECK_EQ(shmem_team_split_2d(parent, xrange, &config, SHMEM_TEAM_NUM_CONTEXTS, &x, NULL, 0, &y), 0);
    CHECK(x != SHMEM_TEAM_INVALID && y != SHMEM_TEAM_INVALID);
    CHECK_EQ(shmem_team_my_pe(x), column);
    CHECK_EQ(shmem_team_my_pe(y), row);
    CHECK_EQ(shmem_team_n_pes(x), row_size);
    CHECK_EQ(shmem_team_n_pes(y), column_size);
    for (int i = 0; i < row_size; i++)
        CHECK_EQ(shmem_team_translate_pe(x, i, parent), row * wide + i);
    for (int i = 0; i < column_size; i++)
        CHECK_EQ(shmem_team_translate_pe(y, i, parent), i * wide + column);

    static long mine, along_row[64], along_column[64];
    mine = pe;
    CHECK_EQ(shmem_long_fcollect(x, along_row, &mine, 1), 0);
    CHECK_EQ(shmem_long_fcollect(y, along_column, &mine, 1), 0);
    for (int i = 0; i < row_size; i++)
        CHECK_EQ(along_row[i], row * wide + i);
    for (int i = 0; i < column_size; i++)
        CHECK_EQ(along_column[i], i * wide + column);
    CHECK_EQ(shmem_team_sync(parent), 0);
    shmem_team_destroy(y);
    shmem_team_destroy(x);
}

static void invalid_parent(void)
{
    shmem_team_t x = SHMEM_TEAM_WORLD, y = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_2d(SHMEM_TEAM_INVALID, 2, NULL, 0, &x, NULL, 0, &y) != 0);
    CHECK(x == SHMEM_TEAM_INVALID && y == SHMEM_TEAM_INVALID);
}

/* Three dimensions: a row of the plane is split again. */
static void split_again(void)
{
    shmem_team_t plane, z, x, y;
    CHECK_EQ(shmem_team_split_2d(SHMEM_TEAM_WORLD, 4, NULL, 0, &plane, NULL, 0, &z), 0);
    CHECK_EQ(shmem_team_split_2d(plane, 2, NULL, 0, &x, NULL, 0, &y), 0);
    CHECK_EQ(shmem_team_my_pe(x), me % 4 % 2);
    CHECK_EQ(shmem_team_my_pe(y), me % 4 / 2);
    CHECK_EQ(shmem_team_my_pe(z), me / 4);
    CHECK_EQ(shmem_team_sync(x) | shmem_team_sync(y) | shmem_team_sync(z), 0);
    shmem_team_destroy(x);
    shmem_team_destroy(y);
    shmem_team_destroy(z);
    shmem_team_destroy(plane);
}

int main(void)
{
    check_start();
    for (int xrange = 1; xrange <= npes + 2; xrange++)
        grid(SHMEM_TEAM_WORLD, xrange);
    grid(SHMEM_TEAM_WORLD, INT32_MAX);
    shmem_team_t back;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &back), 0);
    grid(back, 3);
    shmem_team_destroy(back);
    grid(SHMEM_TEAM_SHARED, 2);
    invalid_parent();
    split_again();
    return check_pass();
}
