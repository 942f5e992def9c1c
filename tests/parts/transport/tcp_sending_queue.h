/* Messages that wait. */
#ifndef TESTS_PARTS_TRANSPORT_TCP_SENDING_QUEUE_H
#define TESTS_PARTS_TRANSPORT_TCP_SENDING_QUEUE_H

/* Messages to a peer that is not connected yet wait for the connection. */
static void not_connected(void)
{
    start(-1);
    CHECK(say(4, 5, 1) == TRANSPORT_PENDING && did("watch -1;") && say(0, 1, 2) == TRANSPORT_PENDING);
    CHECK(did("watch -1;") && lane.queued == 2 && peer.left == 0 && !peer.blocked);
    CHECK(tcp_push(&peer) == 0 && did("")); /* nor is it watched */
    peer.blocked = true;
    CHECK(tcp_push(&peer) == 0 && did("watch -1;") && !peer.blocked);
    peer.fd = 0;
    CHECK(tcp_push(&peer) == 2 && did("sendmsg 0 6 26;finished 1;finished 2;") && lane.queued == 0);
    CHECK(is_on_wire(is_on_wire(0, 4, 5), 0, 1) == on_wire);
    end();
}

/* One message waits, so all others do, behind it. The kernel is asked only when it has told of room. */
static void order(void)
{
    start(0);
    set_takes(3, 6 + 8 + 5, FULL);
    CHECK(say(0, 1, 1) == TRANSPORT_PENDING && did("send 0 9;watch 0;") && peer.left == 3);
    for (int i = 2; i < 5; i++)
        CHECK(say((size_t)i, 10, i) == TRANSPORT_PENDING && did("") && peer.left == 3 && lane.queued == (size_t)i);
    takes[2] = -EAGAIN;
    CHECK(tcp_push(&peer) == 1 && did("sendmsg 0 12 69;finished 1;sendmsg 0 9 50;"));
    CHECK(peer.first->token == token(2) && peer.left == 13 && lane.queued == 3 && peer.blocked);
    set_takes(7, -EAGAIN, 0);
    CHECK(tcp_push(&peer) == 1 && did("sendmsg 0 9 50;finished 2;sendmsg 0 6 43;") && peer.left == 0);
    set_takes(21, -EINTR, 0);
    CHECK(tcp_push(&peer) == 1 && did("sendmsg 0 6 43;finished 3;sendmsg 0 3 22;") && lane.queued == 1);
    set_takes(0, 0, 0);
    CHECK(tcp_push(&peer) == 0 && did("sendmsg 0 3 22;") && peer.first);
    set_takes(FULL, FULL, FULL);
    CHECK(tcp_push(&peer) == 1 && did("sendmsg 0 3 22;finished 4;watch 0;") && lane.queued == 0);
    size_t at = is_on_wire(0, 0, 1);
    for (size_t i = 2; i < 5; i++)
        at = is_on_wire(at, i, 10);
    CHECK(at == on_wire);
    CHECK(say(0, 1, 1) == TRANSPORT_DONE && did("send 0 9;"));
    end();
}

/* Up to eight leave in one call; of the first one, what is left. */
static void several_at_once(void)
{
    for (size_t count = 7; count <= 17; count++) {
        start(-1);
        for (size_t i = 0; i < count; i++)
            CHECK(say(1, 1, (int)i) == TRANSPORT_PENDING);
        traced[0] = 0;
        peer.fd = 0;
        peer.left = 4;
        on_wire = 4;
        memcpy(wire, &(uint64_t){(uint64_t)1 << 16 | 1}, 4);
        CHECK(tcp_push(&peer) == (int)count);
        char calls[1000];
        int length = 0;
        for (size_t i = 0; i < count; i++) {
            const size_t here = count - i < 8 ? count - i : 8;
            if (i % 8 == 0)
                length += snprintf(calls + length, 40, "sendmsg 0 %zu %zu;", 3 * here, 10 * here - (i ? 0 : 4));
            length += snprintf(calls + length, 40, "finished %zu;", i);
        }
        CHECK(did(calls) && !peer.first && lane.queued == 0);
        size_t at = 0;
        for (size_t i = 0; i < count; i++)
            at = is_on_wire(at, 1, 1);
        CHECK(at == on_wire);
        end();
    }
}

/* What has left lends its record to the next message that waits; without memory that one fails. */
static void no_memory(void)
{
    start(-1);
    owned_left = 0;
    CHECK(say(1, 1, 1) == TRANSPORT_FAILED && !peer.first && peer.last == &peer.first && lane.queued == 0 && did(""));
    CHECK(say(1, 1, 1) == TRANSPORT_PENDING && say(2, 2, 2) == TRANSPORT_PENDING && owned_count == 2);
    traced[0] = 0;
    peer.fd = 0;
    CHECK(tcp_push(&peer) == 2 && did("sendmsg 0 6 22;finished 1;finished 2;"));
    struct out *idle = lane.idle;
    CHECK(idle && idle->next && !idle->next->next && owned_count == 2);
    peer.fd = -1;
    CHECK(say(3, 3, 3) == TRANSPORT_PENDING && peer.first == idle && owned_count == 2);
    CHECK(say(4, 4, 4) == TRANSPORT_PENDING && !lane.idle && owned_count == 2 && peer.first->next);
    CHECK(peer.first->next->token == token(4) && !peer.first->next->next);
    owned_left = 0;
    CHECK(say(5, 5, 5) == TRANSPORT_FAILED && lane.queued == 2);
    end();
}

/* Who hears that its message has left sends the next one, which goes by the same push. */
static void more_meanwhile(void)
{
    start(-1);
    CHECK(say(1, 1, 1) == TRANSPORT_PENDING && did("watch -1;"));
    peer.fd = 0, peer.blocked = true;
    sends_more = true;
    /* The queue is empty when the event comes, so the kernel is asked at once; it has no room yet. */
    set_takes(FULL, -EAGAIN, FULL);
    CHECK(tcp_push(&peer) == 2 && did("sendmsg 0 3 10;finished 1;send 0 10;sendmsg 0 3 10;finished 99;watch 0;"));
    CHECK(!peer.first && peer.last == &peer.first && lane.queued == 0 && owned_count == 1 && !peer.blocked);
    CHECK(is_on_wire(is_on_wire(0, 1, 1), 1, 1) == on_wire);
    end();
}

/* A connection that is lost is told with its error, and what waits stays. */
static void lost(void)
{
    start(-1);
    CHECK(say(1, 1, 1) == TRANSPORT_PENDING && say(2, 2, 2) == TRANSPORT_PENDING);
    traced[0] = 0;
    peer.fd = 0;
    set_takes(10, -ECONNRESET, FULL);
    CHECK(tcp_push(&peer) == 1 && did("sendmsg 0 6 22;finished 1;sendmsg 0 3 12;broken 70005 104;watch 0;"));
    CHECK(peer.first && lane.queued == 1);
    end();
}

#endif
