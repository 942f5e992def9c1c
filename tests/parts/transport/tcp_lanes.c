/* Lanes of the TCP transport (tcp.c): what opens and what is given back when something fails, what a lane publishes and whom it connects
 * to, which descriptors a poll looks at and how often, and the slots. The other parts of the transport and the kernel are made up. */
#include "tcp_lanes_parts.h"

#include "transport/tcp/tcp.c"

#undef close

#define AT(number) ((void *)(uintptr_t)(number)) /* a mark that is looked at by nobody */

static const char *open_with(int count)
{
    ways = count;
    new_epoll = 80;
    return lateral_transport.open(&told, 70004, 70010, 0);
}

static void opening(void)
{
    const uint8_t loopback[16] = {127, 0, 0, 1};
    CHECK(!open_with(0) && here.ways == 1 && here.port == 0 && !here.way[0].six);
    CHECK(memcmp(here.way[0].address, loopback, 16) == 0);
    CHECK(tcp_events == &told && tcp_me == 70004 && tcp_npes == 70010);
    CHECK(key[0] && key[1] && key[0] != key[1]);
    const uint64_t before = key[0];
    CHECK(!open_with(1) && here.ways == 1 && here.way[0].six == 1 && here.way[0].address[0] == 10 && key[0] != before);
    CHECK(!open_with(3) && here.ways == 3 && here.way[2].address[0] == 12);
    CHECK(strstr(open_with(-1), "LATERAL_INTERFACE names no"));
    CHECK(!open_with(1));
    no_congestion = true;
    CHECK(strstr(lateral_transport.open(&told, 1, 2, 0), "LATERAL_TCP_CONGESTION names no"));
    no_congestion = false;
    random_fails = 0;
    CHECK(strstr(lateral_transport.open(&told, 1, 2, 0), "no random numbers"));
    random_fails = -1;
}

/* The second of two lanes is first in the list; either goes with what it holds, from the last on. */
static void lanes_live(void)
{
    void *made[2];
    CHECK(!open_with(2));
    for (int i = 0; i < 2; i++) {
        new_epoll = i; /* any number is good */
        CHECK(!lateral_transport.open_lane(&owners[i], &made[i]) && lanes == made[i]);
        const struct lane *lane = made[i];
        CHECK(lane->owner == &owners[i] && lane->events == i && lateral_transport.descriptor(made[i]) == i);
        CHECK(owned_bytes(lane->buffer) == TCP_BUFFER && lane->here.ways == 2 && lane->here.port == 0x1234);
        CHECK(lane->id == last_random && !lane->peers && !lane->hot && !lane->polls && !lane->queued);
        CHECK(!lane->idle && !lane->spare && !lane->late && lane->next == (i ? made[0] : 0));
        const struct door *door = &lane->door;
        CHECK(opened == door && door->fd == -1 && door->timer == -1 && door->events == i && door->owner == lane);
        CHECK(door->key[0] == key[0] && door->key[1] == key[1] && door->me == 70004 && door->npes == 70010);
        CHECK(door->places == 70042 && door->seconds == 20 && door->wants == tcp_peer_wants);
        CHECK(door->let_in == tcp_peer_let_in && lateral_transport.arm(made[i]) == 1);
    }
    ((struct lane *)made[1])->door.full(made[1]);
    CHECK(strstr(why, "no descriptor left") && here.port == 0 && did(""));
    struct lane *lane = made[1];
    struct peer *one = calloc(1, sizeof *one), *two = calloc(1, sizeof *two);
    struct out *first = calloc(1, sizeof *first);
    first->next = calloc(1, sizeof *first);
    one->pe = 1, two->pe = 2, one->next = two;
    lane->peers = one, lane->idle = first, lane->spare = malloc(5);
    lateral_transport.close();
    CHECK(did("peer 1;peer 2;late;door;close 1;late;door;close 0;") && owned_count == 0 && !lanes);
    lateral_transport.close();
    CHECK(did(""));
}

static bool lane_fails(const char *text, const char *calls)
{
    void *made = &made;
    const char *said = lateral_transport.open_lane(&owners[0], &made);
    return said && strstr(said, text) && made == &made && did(calls) && !lanes && owned_count == 0;
}

static void lanes_fail(void)
{
    CHECK(!open_with(1));
    owned_left = 0;
    CHECK(lane_fails("no memory", ""));
    owned_left = 1;
    doors = 0;
    CHECK(lane_fails("no socket to listen on, or no memory", "late;door;close 80;") && doors == 0);
    new_epoll = -1;
    CHECK(lane_fails("no socket to listen on", "late;door;") && doors == 0);
    new_epoll = 0;
    random_fails = 0;
    CHECK(lane_fails("no socket to listen on", "late;door;close 0;") && doors == 0);
    random_fails = -1;
    no_port = true;
    CHECK(lane_fails("no socket to listen on", "late;door;close 0;") && doors == 1);
    no_port = false;
}

static void addresses(void)
{
    void *lane;
    struct tcp_address address;
    CHECK(!open_with(2) && !lateral_transport.open_lane(&owners[0], &lane));
    size_t bytes = sizeof address - 1;
    memset(&address, 0, sizeof address);
    CHECK(lateral_transport.address(lane, &address, &bytes) == -1 && bytes == sizeof address && address.id == 0);
    for (size_t room = sizeof address; room < sizeof address + 2; room++) {
        bytes = room;
        memset(&address, 0, sizeof address);
        CHECK(lateral_transport.address(lane, &address, &bytes) == 0 && bytes == sizeof address);
        CHECK(address.id == ((struct lane *)lane)->id && address.key[0] == key[0] && address.key[1] == key[1]);
        CHECK(address.place.ways == 2 && address.place.port == 0x1234 && address.place.way[1].address[0] == 11);
    }
    CHECK(!lateral_transport.connect(lane, 5, &address, sizeof address - 1) && did(""));
    CHECK(!lateral_transport.connect(lane, 5, &address, sizeof address + 1) && did(""));
    for (uint8_t count = 0; count <= SOCKET_WAYS; count++) {
        address.place.ways = count;
        CHECK(lateral_transport.connect(lane, 70005, &address, sizeof address) == &connecting && did("connect;"));
        CHECK(connecting == lane && connected_pe == 70005 && connected_at.place.ways == count);
        CHECK(connected_at.id == address.id && connected_at.key[1] == key[1]);
    }
    address.place.ways = SOCKET_WAYS + 1;
    CHECK(!lateral_transport.connect(lane, 70005, &address, sizeof address) && did(""));
    lateral_transport.close();
    CHECK(did("late;door;close 80;"));
}

#include "tcp_lanes_polls.h"

int main(void)
{
    CHECK(strcmp(lateral_transport.name, "tcp") == 0);
    CHECK(lateral_transport.send == tcp_send && lateral_transport.receive == tcp_receive);
    opening();
    lanes_live();
    lanes_fail();
    addresses();
    looks();
    turns();
    drains();
    return 0;
}
