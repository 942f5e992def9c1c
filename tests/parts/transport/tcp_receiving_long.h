/* Long data: more than TRANSPORT_SHORT bytes. */
#ifndef TESTS_PARTS_TRANSPORT_TCP_RECEIVING_LONG_H
#define TESTS_PARTS_TRANSPORT_TCP_RECEIVING_LONG_H

/* It goes to its place; what is read with its header is copied there, what comes then is read there, not a byte too much. */
static void placed_at_once(void)
{
    static const size_t firsts[] = {10, 11, 5000, 10 + TRANSPORT_SHORT, 11 + TRANSPORT_SHORT};
    for (int i = 0; i < 5; i++)
        for (int behind = 0; behind < 2; behind++) {
            const size_t bytes = TRANSPORT_SHORT + 1;
            start();
            put_message(2, bytes);
            if (behind)
                put_message(0, 0);
            place = malloc(bytes);
            most = firsts[i];
            CHECK(tcp_read(&peer) == 1);
            if (i < 4) {
                CHECK(did("2/32769;") && peer.rest && peer.rest->got == firsts[i] - 10 && peer.rest->to == place);
                CHECK(!peer.rest->own && !peer.part && !lane.late && owned_count == 3);
                CHECK(tcp_read(&peer) == 1 && last_room == bytes - (firsts[i] - 10));
                for (int reads = 0; peer.rest && reads < 4000; reads++)
                    CHECK(tcp_read(&peer) == 1 && !peer.part);
                CHECK(did("finished;"));
            }
            CHECK(i < 4 || did("2/32769;finished;"));
            CHECK(!peer.rest && owned_count == 2 && good(place, bytes, 0) && taken == 10 + bytes);
            CHECK(tcp_read(&peer) == behind && did(behind ? "0/0;" : ""));
            owned_good(place);
            free(place);
            end();
        }
    const size_t bytes = TRANSPORT_SHORT + 1;
    start(); /* all in one read, with a message behind it */
    place = malloc(bytes);
    put_message(2, bytes), put_message(3, 4);
    CHECK(tcp_read(&peer) == 1 && did("2/32769;finished;3/4;") && good(place, bytes, 0) && !peer.part);
    free(place);
    end();
    start(); /* longer than a buffer */
    place = malloc(LONG);
    put_message(2, LONG), put_message(3, 4);
    CHECK(tcp_read(&peer) == 1 && did("2/1048576;") && peer.rest->got == TCP_BUFFER - 10);
    error = EAGAIN, most = 0;
    CHECK(tcp_read(&peer) == 0 && did("") && peer.rest);
    error = ECONNRESET;
    CHECK(tcp_read(&peer) == 0 && did("broken 104;") && peer.rest && peer.rest->got == TCP_BUFFER - 10);
    most = sizeof wire;
    CHECK(tcp_read(&peer) == 1 && did("finished;") && good(place, LONG, 0));
    CHECK(tcp_read(&peer) == 1 && did("3/4;"));
    free(place);
    end();
}

/* Without a place it goes to a buffer of its own, which is copied when the place is known: before, while or after it arrives. */
static void placed_later(void)
{
    const size_t bytes = 3 * TRANSPORT_SHORT;
    for (int reads = 1; reads < 4; reads++) {
        start();
        put_message(2, bytes), put_message(3, 4);
        most = 10 + (reads == 1 ? 0 : TRANSPORT_SHORT);
        CHECK(tcp_read(&peer) == 1 && did("2/98304;"));
        most = reads == 2 ? TRANSPORT_SHORT : bytes;
        for (int i = 1; i < reads; i++)
            CHECK(tcp_read(&peer) == 1);
        struct late *late = rest;
        CHECK(lane.late == late && !late->next && owned_bytes(late->own) == bytes && late->to == late->own);
        CHECK(late->got == (reads == 1 ? 0 : reads == 2 ? 2 * TRANSPORT_SHORT : bytes) && !late->placed);
        CHECK((peer.rest != 0) == (reads < 3) && did(reads < 3 ? "" : "3/4;") && owned_count == 3);
        char *to = malloc(bytes);
        const enum transport_status status = tcp_receive(&lane, late, to, bytes, &token);
        CHECK(status == (reads < 3 ? TRANSPORT_PENDING : TRANSPORT_DONE) && !lane.late);
        CHECK(owned_count == (reads < 3 ? 3 : 2));
        if (reads < 3) {
            CHECK(late->placed && late->to == to && !late->own && late->token == &token);
            CHECK(good(to, late->got, 0) && (reads == 2 || to[0] != byte_of(0) || to[1] != byte_of(1)));
            most = bytes - late->got;
            CHECK(tcp_read(&peer) == 1 && did("finished;") && owned_count == 2);
            CHECK(tcp_read(&peer) == 1 && did("3/4;"));
        }
        CHECK(good(to, bytes, 0));
        owned_good(to);
        free(to);
        end();
    }
}

static void long_without_memory(void)
{
    const size_t bytes = TRANSPORT_SHORT + 1;
    start();
    put_message(2, bytes), put_message(3, 4);
    owned_left = 0;
    CHECK(tcp_read(&peer) == 1 && did("broken 12;") && !peer.rest && !peer.part);
    end();
    start();
    put_message(2, bytes), put_message(3, 4);
    no_memory = true;
    CHECK(tcp_read(&peer) == 1 && did("2/32769;broken 12;") && peer.rest == rest && !peer.part);
    CHECK(lane.late == rest && !lane.late->own && lane.late->got == 0);
    tcp_late_close(&lane);
    CHECK(owned_count == 1);
    end();
}

/* Of several that wait, each is taken from its place in the list, and all go with the lane. */
static void several_late(void)
{
    for (int taken_out = 0; taken_out < 4; taken_out++) {
        const size_t bytes = TRANSPORT_SHORT + 1;
        void *rests[3];
        start();
        for (int i = 0; i < 3; i++) {
            put_message(2, bytes);
            CHECK(tcp_read(&peer) == 1 && did("2/32769;") && !peer.rest);
            rests[i] = rest;
            CHECK(lane.late == rest && lane.late->next == (i ? rests[i - 1] : 0) && lane.late->got == bytes);
        }
        CHECK(owned_count == 7);
        char *to = malloc(bytes);
        if (taken_out < 3) {
            CHECK(tcp_receive(&lane, rests[taken_out], to, bytes, &token) == TRANSPORT_DONE && good(to, bytes, 0));
            const struct late *at = lane.late;
            for (int i = 2; i >= 0; i--)
                if (i != taken_out) {
                    CHECK(at == rests[i]);
                    at = at->next;
                }
            CHECK(!at && owned_count == 6);
        }
        tcp_late_close(&lane);
        CHECK(!lane.late && owned_count == 2 && did(""));
        free(to);
        end();
    }
}

#endif
