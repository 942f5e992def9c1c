/* Lines of text between watchers and oshrun: connections over TCP whose ends know the job's key (net/auth/handshake.h), the local
 * sockets by which oshrun --status asks, and the one loop that serves them. One thread.
 *
 * A channel is freed in channels_turn alone, after its `closed` has returned; channel_close marks it. */
#ifndef LAUNCH_CHANNEL_H
#define LAUNCH_CHANNEL_H

#include "net/auth/routes.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CHANNEL_FILES 65536 /* descriptors that a process uses at most */

struct channel {
    int fd;   /* -1: not connected */
    int peer; /* the number that the other end told; -1: oshrun --status */
    bool up;  /* connected and proved */
    bool ended;
    void *owner;
    struct dialer *dialer;
    void (*heard)(struct channel *channel,
                  char *line); /* a line without its end, which may be changed; null: a dialed one is up */
    void (*closed)(struct channel *channel); /* the other end is gone, or was never reached; null: nobody cares */
    char *in;
    size_t have;
    struct channel *next;
};

/* What the owner of the process does with a connection that has come: sets owner, heard and closed. */
typedef void channel_accept(struct channel *channel);

/* Opens the loop. Returns false when the system gives no descriptor. */
bool channels_open(void);

/* Accepts parties 0 .. parties-1 that know the key, as number `me`, and stores the routes to this process. Their port is 0 when nobody
 * can connect. */
void channels_listen(const uint64_t key[2], uint32_t me, uint32_t parties, channel_accept *accept, struct routes *mine);

/* Accepts processes of this user that call channel_ask with this process's number. */
void channels_listen_here(channel_accept *accept);

/* Connects to such a listener. The channel is up later, or closed. */
struct channel *channel_dial(const uint64_t key[2], uint32_t me, uint32_t other, const struct routes *to);

/* Connects to the process of this machine. Returns a descriptor, or -1. */
int channel_ask(pid_t process);

/* Sends a line; the format ends it. Nothing happens where the channel is null or not up. */
void channel_send(struct channel *channel, const char *format, ...) __attribute__((format(printf, 2, 3)));
void channel_close(struct channel *channel);

/* Watches one more descriptor: `ready` is called while it can be read. */
bool channels_add(int fd, void (*ready)(int fd));
void channels_remove(int fd);

/* The place of a listener as one word, NODE_FRONT in front, for the environment; at most NODE_FRONT_BYTES with the end. */
void channel_write_place(char *text, const uint64_t key[2], const struct routes *routes);
bool channel_read_place(const char *text, uint64_t key[2], struct routes *routes);

/* Waits for at most so long and serves what has come. */
void channels_turn(int ms);

#endif
