/* Stands before libfabric. With LOCAL_REFUSES it has no memory to lock. Else it asks for registered memory (FI_MR_LOCAL), and ends the process when
 * what an endpoint is handed does not lie in the region of its descriptor, or that region does not permit it; fi_mr(3). */
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdio.h>
#include <stdlib.h>

struct region { /* its address is the descriptor */
    const char *start, *end;
    uint64_t access;
    void *desc; /* the provider's own */
    const struct fi_ops *was;
    struct fi_ops ops;
};

/* The provider's functions, and those in their place. */
static struct fi_ops_fabric fabric_was, fabric_now;
static struct fi_ops_domain domain_was, domain_now;
static struct fi_ops_mr mr_was, mr_now;
static struct fi_ops_msg msg_was, msg_now;
static struct fi_ops_rma rma_was, rma_now;
static struct fi_ops_tagged tagged_was, tagged_now;
static struct fi_ops_atomic atomic_was, atomic_now;

/* Returns the provider's own descriptor. */
static void *check(const void *at, size_t bytes, const struct region *region, uint64_t access)
{
    const char *start = at;
    if (region && start >= region->start && start + bytes <= region->end && (region->access & access) == access)
        return region->desc;
    fprintf(stderr, "FAILS: %zu bytes without a region for access %#llx\n", bytes, (unsigned long long)access);
    abort();
}

/* Calls `was` with the provider's descriptors in place of those of what->msg_iov. */
#define PASS(type, was, what, unit, kind, ...)                                                                  \
    ({                                                                                                          \
        type copy = *(what);                                                                                    \
        void *real[8];                                                                                          \
        for (size_t i = 0; i < copy.iov_count; i++)                                                             \
            real[i] = check(*(void *const *)&copy.msg_iov[i], *((const size_t *)&copy.msg_iov[i] + 1) * (unit), \
                            copy.desc ? copy.desc[i] : 0, kind);                                                \
        copy.desc = real;                                                                                       \
        was(ep, &copy, __VA_ARGS__);                                                                            \
    })

static size_t size_of(const struct fi_msg_atomic *what)
{
    return what->datatype == FI_UINT32 ? 4 : 8;
}

#define CHECKED(name, type, was, unit, kind)                                 \
    static ssize_t name(struct fid_ep *ep, const type *what, uint64_t flags) \
    {                                                                        \
        return PASS(type, was, what, unit, kind, flags);                     \
    }

CHECKED(receive_message, struct fi_msg, msg_was.recvmsg, 1, FI_RECV)
CHECKED(send_message, struct fi_msg, msg_was.sendmsg, 1, FI_SEND)
CHECKED(write_message, struct fi_msg_rma, rma_was.writemsg, 1, FI_WRITE)
CHECKED(read_message, struct fi_msg_rma, rma_was.readmsg, 1, FI_READ)
CHECKED(atomic_message, struct fi_msg_atomic, atomic_was.writemsg, size_of(what), FI_WRITE)

static ssize_t send_bytes(struct fid_ep *ep, const void *at, size_t bytes, void *desc, fi_addr_t to, void *context)
{
    return msg_was.send(ep, at, bytes, check(at, bytes, desc, FI_SEND), to, context);
}

static ssize_t send_pieces(struct fid_ep *ep, const struct iovec *at, void **desc, size_t count, fi_addr_t to,
                           void *context)
{
    return send_message(ep, &(struct fi_msg){at, desc, count, to, context, 0}, FI_COMPLETION);
}

static ssize_t send_tagged(struct fid_ep *ep, const void *at, size_t bytes, void *desc, fi_addr_t to, uint64_t tag,
                           void *context)
{
    return tagged_was.send(ep, at, bytes, check(at, bytes, desc, FI_SEND), to, tag, context);
}

static ssize_t receive_tagged(struct fid_ep *ep, void *at, size_t bytes, void *desc, fi_addr_t from, uint64_t tag,
                              uint64_t ignore, void *context)
{
    return tagged_was.recv(ep, at, bytes, check(at, bytes, desc, FI_RECV), from, tag, ignore, context);
}

static ssize_t fetch_message(struct fid_ep *ep, const struct fi_msg_atomic *what, struct fi_ioc *old, void **desc,
                             size_t count, uint64_t flags)
{
    void *own = check(old->addr, size_of(what), *desc, FI_READ);
    return PASS(struct fi_msg_atomic, atomic_was.readwritemsg, what, size_of(what), FI_WRITE, old, &own, count, flags);
}

static ssize_t compare_message(struct fid_ep *ep, const struct fi_msg_atomic *what, const struct fi_ioc *compare,
                               void **theirs, size_t compares, struct fi_ioc *old, void **desc, size_t count,
                               uint64_t flags)
{
    void *own = check(old->addr, size_of(what), *desc, FI_READ),
         *other = check(compare->addr, size_of(what), *theirs, FI_WRITE);
    return PASS(struct fi_msg_atomic, atomic_was.compwritemsg, what, size_of(what), FI_WRITE, compare, &other, compares,
                old, &own, count, flags);
}

static int close_region(struct fid *fid)
{
    struct fid_mr *mr = (struct fid_mr *)fid;
    struct region *region = mr->mem_desc; /* is kept: whoever still uses it is told */
    mr->mem_desc = region->desc;
    fid->ops = (struct fi_ops *)(uintptr_t)region->was;
    region->end = region->start = 0;
    return fid->ops->close(fid);
}

static int open_region(struct fid *domain, const void *start, size_t bytes, uint64_t access, uint64_t offset,
                       uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
    const int status = mr_was.reg(domain, start, bytes, access, offset, key, flags, mr, context);
    struct region *region = status ? 0 : malloc(sizeof *region);
    if (region) {
        *region = (struct region){start,          (const char *)start + bytes, access, (*mr)->mem_desc, (*mr)->fid.ops,
                                  *(*mr)->fid.ops};
        region->ops.close = close_region;
        (*mr)->fid.ops = &region->ops;
        (*mr)->mem_desc = region;
    }
    return status;
}

#define REPLACE(table, name)            \
    name##_was = name##_now = *(table); \
    (table) = &name##_now

static int open_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep, void *context)
{
    const int status = domain_was.endpoint(domain, info, ep, context);
    if (status)
        return status;
    REPLACE((*ep)->msg, msg);
    REPLACE((*ep)->rma, rma);
    REPLACE((*ep)->tagged, tagged);
    msg_now.recvmsg = receive_message;
    msg_now.sendmsg = send_message;
    msg_now.send = send_bytes;
    msg_now.sendv = send_pieces;
    rma_now.writemsg = write_message;
    rma_now.readmsg = read_message;
    tagged_now.send = send_tagged;
    tagged_now.recv = receive_tagged;
    if ((*ep)->atomic) {
        REPLACE((*ep)->atomic, atomic);
        atomic_now.writemsg = atomic_message;
        atomic_now.readwritemsg = fetch_message;
        atomic_now.compwritemsg = compare_message;
    }
    return 0;
}

static int open_domain(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain, void *context)
{
    const int status = fabric_was.domain(fabric, info, domain, context);
    if (status)
        return status;
    REPLACE((*domain)->ops, domain);
    REPLACE((*domain)->mr, mr);
    domain_now.endpoint = open_endpoint;
    mr_now.reg = open_region;
    return 0;
}

static void *find(const char *name)
{
    return dlsym(dlopen("libfabric.so.1", RTLD_NOW | RTLD_NOLOAD), name);
}

int fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags, const struct fi_info *hints,
               struct fi_info **info)
{
    int (*was)(uint32_t, const char *, const char *, uint64_t, const struct fi_info *, struct fi_info **) =
        find("fi_getinfo");
    const int status =
        hints->domain_attr->mr_mode & FI_MR_LOCAL ? was(version, node, service, flags, hints, info) : -FI_ENODATA;
    for (struct fi_info *at = status ? 0 : *info; at; at = at->next)
        at->domain_attr->mr_mode |= FI_MR_LOCAL;
    return status;
}

int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    int (*was)(struct fi_fabric_attr *, struct fid_fabric **, void *) = find("fi_fabric");
    const int status = getenv("LOCAL_REFUSES") ? -FI_ENOMEM : was(attr, fabric, context);
    if (status)
        return status;
    REPLACE((*fabric)->ops, fabric);
    fabric_now.domain = open_domain;
    return 0;
}
