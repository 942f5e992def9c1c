/* The provider that carries messages, and its domain; see inner.h.
 *
 * The first of libfabric's providers that has what messages need is taken, as fi_info lists them; FI_PROVIDER chooses another,
 * and LATERAL_INTERFACE one of a provider's network interfaces. One-sided operations are asked for in a second step, so
 * that they do not change the choice. */
#include "net/ofi/inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Of the interface that is used. A newer library serves, too. */
#define VERSION FI_VERSION(1, 14)

const struct transport_events *ofi_events;
struct fi_info *ofi_info;
struct fid_fabric *ofi_fabric;
struct fid_domain *ofi_domain;
struct worker *ofi_workers;
int ofi_me, ofi_npes;

static char reason[384];

static struct fi_info *hints_for(uint64_t caps, uint64_t order)
{
    struct fi_info *hints = fi_allocinfo();
    if (!hints)
        return 0;
    hints->caps = FI_MSG | FI_TAGGED | FI_MULTI_RECV | caps;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = order;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ENDPOINT | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
                                  (caps & FI_RMA_EVENT ? FI_MR_RMA_EVENT : 0);
    hints->domain_attr->threading = FI_THREAD_SAFE;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    return hints;
}

/* Returns false for another interface than the one of LATERAL_INTERFACE. */
static bool is_chosen(const struct fi_info *info)
{
    const char *interface = getenv("LATERAL_INTERFACE"), *name = info->domain_attr->name;
    return !interface || !*interface || (info->addr_format != FI_SOCKADDR_IN && info->addr_format != FI_SOCKADDR_IN6) ||
           (name && strcmp(name, interface) == 0);
}

/* Returns the first that is chosen, alone; frees the list. */
static struct fi_info *take_chosen(struct fi_info *list)
{
    struct fi_info *at = list;
    while (at && !is_chosen(at))
        at = at->next;
    struct fi_info *picked = at ? fi_dupinfo(at) : 0;
    fi_freeinfo(list);
    return picked;
}

static int get_info(uint64_t caps, uint64_t order, const struct fi_info *same, struct fi_info **found)
{
    struct fi_info *hints = hints_for(caps, order), *list = 0;
    if (!hints)
        return -FI_ENOMEM;
    if (same) {
        hints->addr_format = same->addr_format;
        hints->fabric_attr->prov_name = strdup(same->fabric_attr->prov_name);
        hints->fabric_attr->name = same->fabric_attr->name ? strdup(same->fabric_attr->name) : 0;
        hints->domain_attr->name = same->domain_attr->name ? strdup(same->domain_attr->name) : 0;
        hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
    }
    const int status = fi_getinfo(VERSION, 0, 0, 0, hints, &list);
    fi_freeinfo(hints);
    *found = status == 0 ? take_chosen(list) : 0;
    return status == 0 && !*found ? -FI_ENODATA : status;
}

/* Chooses the provider for messages: one that reaches other hosts, if there is one. */
static const char *choose_provider(void)
{
    const char *provider = getenv("FI_PROVIDER");
    int status = get_info(FI_LOCAL_COMM | FI_REMOTE_COMM, FI_ORDER_SAS, 0, &ofi_info);
    if (status != 0)
        status = get_info(0, FI_ORDER_SAS, 0, &ofi_info);
    if (status == 0)
        return 0;
    if (status == -FI_ENOSYS)
        return "this libfabric is older than 1.14; set LATERAL_TRANSPORTS=tcp";
    const char *interface = getenv("LATERAL_INTERFACE");
    const bool named = interface && *interface;
    snprintf(reason, sizeof reason,
             "libfabric has no provider%s%.64s with messages%s%.16s (%s): see fi_info -t FI_EP_RDM, or set "
             "LATERAL_TRANSPORTS=tcp",
             provider ? " named in FI_PROVIDER=" : "", provider ? provider : "",
             named ? " on the interface of LATERAL_INTERFACE=" : "", named ? interface : "", fi_strerror(-status));
    return reason;
}

bool ofi_orders_writes(void)
{
    return ofi_info->tx_attr->msg_order & FI_ORDER_WAW && ofi_info->ep_attr->max_order_waw_size >= SIZE_MAX >> 16;
}

bool ofi_is_rxd(void)
{
    return ofi_info->ep_attr->protocol == FI_PROTO_RXD;
}

/* Where writes overtake each other count j would not mean that put j is there, as it does when puts are messages. */
bool ofi_counts(void)
{
    return ofi_info->caps & FI_RMA_EVENT && ofi_info->domain_attr->cntr_cnt && ofi_orders_writes();
}

/* Takes the same provider with more capabilities, if it has them. It keeps what order it keeps unasked: more may cost (shm moves no data by
 * itself then), but messages need theirs. Returns whether it has been taken. */
static bool add_caps(uint64_t caps)
{
    static const uint64_t orders[] = {0, FI_ORDER_SAS};
    struct fi_info *more = 0;
    for (size_t i = 0; !more && i < sizeof orders / sizeof *orders; i++)
        if (get_info(caps, orders[i], ofi_info, &more) == 0 && !(more->tx_attr->msg_order & FI_ORDER_SAS)) {
            fi_freeinfo(more);
            more = 0;
        }
    if (!more)
        return false;
    fi_freeinfo(ofi_info);
    ofi_info = more;
    ofi_info->tx_attr->op_flags = 0; /* each operation says what it wants */
    return true;
}

/* Takes as much of what one-sided operations want as the provider has. A provider that makes messages of atomics (rxm) keeps writes in no
 * order once it is asked for them, so it is not. */
static void add_onesided(void)
{
    uint64_t caps = FI_RMA;
    if (!add_caps(caps))
        return;
    const bool ordered = ofi_orders_writes();
    if (add_caps(caps | FI_ATOMIC) && !(ordered && !ofi_orders_writes()))
        caps |= FI_ATOMIC;
    else
        (void)add_caps(caps);
    if (!ofi_orders_writes() && add_caps(caps | FI_FENCE))
        caps |= FI_FENCE;
    if (ofi_info->domain_attr->cntr_cnt && ofi_orders_writes())
        (void)add_caps(caps | FI_RMA_EVENT);
}

/* Returns what may help against the error; cxi refuses whom its service does not let in. */
static const char *remedy_for(int status)
{
    struct rlimit locked;
    if (strstr(ofi_info->fabric_attr->prov_name, "cxi"))
        return "start by the site's launcher, which opens the adapter for the job (fi_info -p cxi; cxi_service list)";
    if ((status == -FI_ENOMEM || status == -FI_EPERM) && getrlimit(RLIMIT_MEMLOCK, &locked) == 0 &&
        locked.rlim_cur != RLIM_INFINITY)
        return "memory to be locked is limited: ulimit -l unlimited (memlock in /etc/security/limits.conf, "
               "LimitMEMLOCK of slurmd)";
    if (status == -FI_ENODEV || status == -FI_ENODATA)
        return "its device is gone: see fi_info, and the driver";
    return "choose another by FI_PROVIDER";
}

const char *ofi_provider_refuse(const char *what, int status)
{
    snprintf(reason, sizeof reason, "libfabric's provider %.64s cannot open %s: %s; %s, or set LATERAL_TRANSPORTS=tcp",
             ofi_info->fabric_attr->prov_name, what, fi_strerror(-status), remedy_for(status));
    return reason;
}

void ofi_provider_close(void)
{
    if (ofi_domain)
        fi_close(&ofi_domain->fid);
    if (ofi_fabric)
        fi_close(&ofi_fabric->fid);
    if (ofi_info)
        fi_freeinfo(ofi_info);
    ofi_domain = 0;
    ofi_fabric = 0;
    ofi_info = 0;
}

const char *ofi_provider_open(bool onesided)
{
    const char *why = choose_provider();
    if (why)
        return why;
    if (onesided)
        add_onesided();
    ofi_memory_open();
    int status = fi_fabric(ofi_info->fabric_attr, &ofi_fabric, 0);
    if (status != 0)
        return ofi_provider_refuse("the network", status);
    status = fi_domain(ofi_fabric, ofi_info, &ofi_domain, 0);
    return status == 0 ? 0 : ofi_provider_refuse("its device", status);
}

/* --- For lateral-info */

/* Returns the version of the libfabric that has been loaded, such as 1.17. */
__attribute__((visibility("default"))) const char *lateral_ofi_version(void);
const char *lateral_ofi_version(void)
{
    static char text[16];
    const uint32_t version = fi_version();
    snprintf(text, sizeof text, "%u.%u", FI_MAJOR(version), FI_MINOR(version));
    return text;
}

/* Returns the provider that carries messages here, and whether it is software over IP: no device of a network is behind it. Null: there
 * is none. */
__attribute__((visibility("default"))) const char *lateral_ofi_provider(bool *software);
const char *lateral_ofi_provider(bool *software)
{
    static char name[64];
    if (choose_provider())
        return 0;
    *software = !ofi_info->nic && (ofi_info->addr_format == FI_SOCKADDR_IN || ofi_info->addr_format == FI_SOCKADDR_IN6);
    snprintf(name, sizeof name, "%s", ofi_info->fabric_attr->prov_name);
    ofi_provider_close();
    return name;
}
