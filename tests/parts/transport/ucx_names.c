/* What the names of an endpoint's networks, which UCX tells from 1.14 on, say of its one-sided operations: which complete without the
 * target's processor, and where the memory of the peer can be mapped. */
#include "ucx_onesided_library.h"

#if UCP_API_VERSION < UCP_VERSION(1, 14) /* headers of a UCX that tells no names: what later ones have besides */
typedef struct {
    const char *transport_name, *device_name;
} ucp_transport_entry_t;
typedef struct {
    uint64_t field_mask;
    struct {
        ucp_transport_entry_t *entries;
        unsigned num_entries;
        size_t entry_size;
    } transports;
} test_attr_t;
#define ucp_ep_attr_t test_attr_t
#define ucp_ep_query test_query
#define UCP_EP_ATTR_FIELD_TRANSPORTS UCS_BIT(3)
#undef UCP_API_VERSION
#define UCP_API_VERSION UCP_VERSION(1, 14)
ucs_status_t ucp_ep_query(ucp_ep_h ep, ucp_ep_attr_t *attr);
#endif

static const char *told[17];

ucs_status_t ucp_ep_query(ucp_ep_h ep, ucp_ep_attr_t *attr)
{
    CHECK(ep == &lib_ep && attr->field_mask == UCP_EP_ATTR_FIELD_TRANSPORTS);
    CHECK(attr->transports.num_entries == 16 && attr->transports.entry_size == sizeof(ucp_transport_entry_t));
    for (int i = 0; i < 16; i++) {
        CHECK(!attr->transports.entries[i].transport_name);
        attr->transports.entries[i].transport_name = told[i];
    }
    return lib_status;
}

#include "transport/ucx/onesided.c"

#include "transport/ucx/operation.c"

enum { ALL = TRANSPORT_ALONE | TRANSPORT_ATOMICS_ALONE, MAPS = TRANSPORT_REACHES };

static const struct {
    const char *name;
    unsigned able;
} rows[] = {{"rc_mlx5", ALL},
            {"dc_mlx5", ALL},
            {"ugni_rdma", ALL},
            {"rc", TRANSPORT_ALONE},
            {"dc", TRANSPORT_ALONE},
            {"rc_verbs", TRANSPORT_ALONE},
            {"dc_x", TRANSPORT_ALONE},
            {"xpmem", TRANSPORT_ALONE | MAPS},
            {"posix", MAPS},
            {"sysv", MAPS},
            {"sysv_", MAPS},
            {"rc_mlx", TRANSPORT_ALONE},
            {"rcx", 0},
            {"r", 0},
            {"", 0},
            {"rc/", 0},
            {"xrc", 0},
            {"ud_mlx5", 0},
            {"ugni_smsg", 0},
            {"tcp", 0},
            {"self", 0}};
enum { ROWS = sizeof rows / sizeof *rows };

static unsigned can(bool onesided)
{
    ucx_onesided = onesided;
    return ucx_can(&lib_ep);
}

static void by_name(void)
{
    for (int i = 0; i < ROWS; i++)
        for (int at = 0; at <= 15; at += 5) { /* the last one counts */
            told[at] = rows[i].name;
            CHECK(can(true) == (TRANSPORT_ONESIDED | TRANSPORT_ORDERS | rows[i].able));
            CHECK(can(false) == (rows[i].able & MAPS));
            lib_status = UCS_ERR_NOT_IMPLEMENTED;
            CHECK(can(true) == (TRANSPORT_ONESIDED | TRANSPORT_ORDERS) && can(false) == 0);
            lib_status = UCS_OK;
            told[at] = 0;
        }
    CHECK(can(true) == (TRANSPORT_ONESIDED | TRANSPORT_ORDERS) && can(false) == 0);
}

/* One endpoint has several networks. */
static void together(void)
{
    told[0] = "tcp";
    told[1] = "sysv";
    told[2] = "rc_mlx5";
    told[3] = "self";
    CHECK(can(true) == (TRANSPORT_ONESIDED | TRANSPORT_ORDERS | ALL | MAPS) && can(false) == MAPS);
}

static void wanted(void)
{
    CHECK(!ucx_may_use(0) && ucx_may_use(TRANSPORT_ALONE) && ucx_may_use(TRANSPORT_ONESIDED));
    CHECK(ucx_may_use(TRANSPORT_ALONE | TRANSPORT_ONESIDED));
    CHECK(!ucx_may_use(~(unsigned)(TRANSPORT_ALONE | TRANSPORT_ONESIDED)));
}

int main(void)
{
    by_name();
    together();
    wanted();
    CHECK(owned_count == 0);
    return 0;
}
