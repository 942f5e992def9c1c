/* Attributes and names of windows: the program's own keys beside the predefined ones, and what the delete callback sees.
 * ranks: 1 2 */
#include "check.h"

static int deleted;
static int64_t words[10];

static void predefined(MPI_Win win, const void *base)
{
    MPI_Group group;
    void *value;
    int found, members;
    OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &found));
    CHECK(found && value == base);
    OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &found));
    CHECK(found && *(MPI_Aint *)value == 80);
    OK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &found));
    CHECK(found && *(int *)value == 8);
    OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &found));
    CHECK(found && *(int *)value == MPI_WIN_FLAVOR_CREATE);
    OK(MPI_Win_get_group(win, &group));
    MPI_Group_size(group, &members);
    CHECK_EQ(members, ranks);
    MPI_Group_free(&group);
}

static int forget(MPI_Win win, int key, void *value, void *state)
{
    (void)key;
    CHECK(win != MPI_WIN_NULL && value == state);
    predefined(win, words); /* MPI_Win_free: the window is there until the callbacks have returned */
    deleted++;
    return MPI_SUCCESS;
}

static void own_keys(MPI_Win win, int *state)
{
    int key[3], found;
    void *value;
    for (int i = 0; i < 3; i++) {
        OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, forget, &key[i], &state[i]));
        OK(MPI_Win_get_attr(win, key[i], &value, &found));
        CHECK(!found);
        OK(MPI_Win_set_attr(win, key[i], &state[i]));
    }
    OK(MPI_Win_delete_attr(win, key[1]));
    CHECK_EQ(deleted, 1);
    for (int i = 0; i < 3; i++) {
        OK(MPI_Win_get_attr(win, key[i], &value, &found));
        CHECK(i == 1 ? !found : found && value == &state[i]);
        OK(MPI_Win_free_keyval(&key[i]));
    }
}

int main(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int state[3], length;
    MPI_Win win;
    check_start(MPI_THREAD_SINGLE);
    OK(MPI_Win_create(words, sizeof words, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    predefined(win, words);
    own_keys(win, state);
    predefined(win, words);
    OK(MPI_Win_set_name(win, "counters"));
    OK(MPI_Win_get_name(win, name, &length));
    CHECK(length == 8 && strcmp(name, "counters") == 0);
    OK(MPI_Win_free(&win));
    CHECK(win == MPI_WIN_NULL);
    CHECK_EQ(deleted, 3);
    for (int i = 0; i < 3; i++) { /* each window begins with the standard's handler */
        MPI_Errhandler handler;
        OK(MPI_Win_create(words, sizeof words, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        OK(MPI_Win_get_errhandler(win, &handler));
        CHECK(handler == MPI_ERRORS_ARE_FATAL);
        OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
        OK(MPI_Win_free(&win));
    }
    return check_pass();
}
