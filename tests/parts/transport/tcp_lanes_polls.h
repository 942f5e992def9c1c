/* What a poll looks at. */
#ifndef TESTS_PARTS_TRANSPORT_TCP_LANES_POLLS_H
#define TESTS_PARTS_TRANSPORT_TCP_LANES_POLLS_H

static struct lane polled;
static struct peer busy, other;

static void start(void)
{
    new_epoll = 80;
    other = (struct peer){.pe = 9};
    busy = (struct peer){.pe = 8};
    polled = (struct lane){.events = 80, .peers = &busy};
    polled.door.owner = &polled;
    reads = peer_news = door_marks = news_count = 0;
    traced[0] = 0;
}

/* Without a busy connection, each poll asks epoll. News are the door's, or else a peer's. */
static void looks(void)
{
    start();
    CHECK(lateral_transport.progress(&polled) == 0 && did("wait;"));
    news_count = -1;
    CHECK(lateral_transport.progress(&polled) == 0 && did("wait;"));
    news_now[0] = (struct epoll_event){.events = EPOLLIN, .data.ptr = AT(1)};
    news_now[1] = (struct epoll_event){.events = EPOLLIN | EPOLLOUT, .data.ptr = AT(2)};
    news_now[2] = (struct epoll_event){.events = EPOLLHUP, .data.ptr = AT(3)};
    news_count = 1;
    CHECK(lateral_transport.progress(&polled) == 0 && did("wait;door? 1;news 1 1;"));
    peer_news = 5;
    CHECK(lateral_transport.progress(&polled) == 5 && did("wait;door? 1;news 1 1;"));
    door_marks = 1 << 1 | 1 << 3;
    news_count = 3;
    CHECK(lateral_transport.progress(&polled) == 7 && did("wait;door? 1;door? 2;news 2 5;door? 3;"));
    for (int i = 0; i < 17; i++)
        news_now[i].data.ptr = AT(1);
    news_count = 17;
    CHECK(lateral_transport.progress(&polled) == 16 && polled.polls == 0);
}

/* Of so many polls of the busy connection, the last one asks epoll as well. */
static void turn(int polls)
{
    for (int round = 0; round < 2; round++)
        for (int i = 1; i <= polls; i++) {
            CHECK(lateral_transport.progress(&polled) == reads);
            CHECK(did(i == polls ? "read 8;wait;" : "read 8;") && polled.polls == (uint32_t)(i % polls));
        }
}

static void turns(void)
{
    start();
    polled.hot = &busy;
    turn(16);
    reads = 3;
    turn(16);
    polled.queued = 1;
    turn(8);
    reads = 0;
    turn(2);
    polled.queued = 0;
    busy.next = &other;
    turn(2);
    reads = 1;
    turn(8);
    door_marks = 0, peer_news = 4, news_count = 1;
    news_now[0] = (struct epoll_event){.events = EPOLLIN, .data.ptr = AT(7)};
    polled.polls = 7;
    CHECK(lateral_transport.progress(&polled) == 5 && did("read 8;wait;door? 7;news 7 1;") && polled.polls == 0);
}

/* Nothing waits any more; epoll is asked in any case. */
static void drains(void)
{
    start();
    CHECK(lateral_transport.drained(&polled) && did("wait;"));
    polled.queued = 1;
    CHECK(!lateral_transport.drained(&polled) && did("wait;"));
    polled.queued = 2;
    CHECK(!lateral_transport.drained(&polled) && did("wait;"));
}

#endif
