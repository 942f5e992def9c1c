/* How the kernel is told, in TCP's words, how long a silent host is waited for: after `idle` seconds of silence it asks
 * `probes` times, `between` seconds apart. For the library's lines, and for launchers, who are to be a little more patient
 * so that a PE can say first what is wrong. */
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

/* Sure to see later, by at most between + idle + idle seconds. */
static inline struct patience patience_after(struct patience p)
{
    p.probes += p.between < p.idle ? p.idle : 1;
    return p;
}

#endif
