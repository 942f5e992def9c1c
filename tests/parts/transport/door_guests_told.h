/* The owner of the door: what it is asked and told. */
#ifndef TESTS_PARTS_TRANSPORT_DOOR_GUESTS_TOLD_H
#define TESTS_PARTS_TRANSPORT_DOOR_GUESTS_TOLD_H

static int told;

static bool is_wanted(void *owner, const struct proof_hello *hello)
{
    CHECK(owner == &told && hello->from == 2 && hello->word == 55);
    note("wanted?;");
    return !unwanted;
}

static void has_come(void *owner, int fd, const struct proof_hello *hello)
{
    CHECK(owner == &told && hello->from == 2 && hello->word == 55);
    for (uint32_t i = 0; i < door.places; i++)
        CHECK(door.guests[i].fd != fd); /* it is no guest any more */
    note("in %d;", fd);
}

static void is_full(void *owner)
{
    CHECK(owner == &told);
    note("full;");
}

#endif
