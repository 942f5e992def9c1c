/* Computes TCP's keepalive settings from the time to wait for a silent host: after `idle` seconds of silence the kernel
 * sends `probes` probes, `between` seconds apart. The library's connections use it, and so do launchers, which wait a
 * little longer so that a PE can say first what is wrong. */
#ifndef BASE_PATIENCE_H
#define BASE_PATIENCE_H

struct patience {
    int idle, between, probes;
};

static inline struct patience patience_of(int seconds)
{
    struct patience p = {.idle = seconds < 20 ? 1 : 2};
    int left = seconds > p.idle ? seconds - p.idle : 1;
    p.between = left < 10 ? 1 : left < 15 ? 2 : 3;
    while (left / p.between > 120) /* the kernel counts to 127 */
        p.between *= 2;
    p.probes = left / p.between;
    return p;
}

/* Returns a patience that surely ends later, by at most between + idle + idle seconds. */
static inline struct patience patience_after(struct patience p)
{
    p.probes += p.between < p.idle ? p.idle : 1;
    return p;
}

#endif
