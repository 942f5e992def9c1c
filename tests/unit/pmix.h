/* As much of PMIx's interface as src/rte/pmix/module.c uses, for pmix.c, which plays PMIx. */
#ifndef TESTS_UNIT_PMIX_H
#define TESTS_UNIT_PMIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMIX_MAX_NSLEN 255
#define PMIX_MAX_KEYLEN 511
#define PMIX_COLLECT_DATA "pmix.collect"
#define PMIX_JOB_SIZE "pmix.job.size"
#define PMIX_RANK_WILDCARD (UINT32_MAX - 1)

enum {
    PMIX_SUCCESS = 0,
    PMIX_ERR_TYPE_MISMATCH = -20,
    PMIX_ERR_LOST_CONNECTION = -101,
    PMIX_OPERATION_SUCCEEDED = -157
};
enum { PMIX_BOOL = 1, PMIX_UINT32 = 14, PMIX_BYTE_OBJECT = 27 };
enum { PMIX_GLOBAL = 3 };

typedef int pmix_status_t;
typedef uint32_t pmix_rank_t;

typedef struct {
    char nspace[PMIX_MAX_NSLEN + 1];
    pmix_rank_t rank;
} pmix_proc_t;

typedef struct {
    uint16_t type;
    union {
        bool flag;
        uint32_t uint32;
        struct {
            char *bytes;
            size_t size;
        } bo;
    } data;
} pmix_value_t;

typedef struct {
    char key[PMIX_MAX_KEYLEN + 1];
    uint32_t flags;
    pmix_value_t value;
} pmix_info_t;

typedef void (*pmix_op_cbfunc_t)(pmix_status_t status, void *data);
typedef void (*pmix_event_notification_cbfunc_fn_t)(pmix_status_t status, pmix_info_t *results, size_t count,
                                                    pmix_op_cbfunc_t then, void *then_data, void *data);
typedef void (*pmix_notification_fn_t)(size_t handler, pmix_status_t status, const pmix_proc_t *source,
                                       pmix_info_t *info, size_t infos, pmix_info_t *results, size_t result_count,
                                       pmix_event_notification_cbfunc_fn_t done, void *token);
typedef void (*pmix_hdlr_reg_cbfunc_t)(pmix_status_t status, size_t handler, void *data);

pmix_status_t PMIx_Init(pmix_proc_t *me, pmix_info_t *info, size_t infos);
pmix_status_t PMIx_Finalize(const pmix_info_t *info, size_t infos);
pmix_status_t PMIx_Abort(int status, const char *words, pmix_proc_t *whom, size_t count);
pmix_status_t PMIx_Put(int scope, const char *key, pmix_value_t *value);
pmix_status_t PMIx_Commit(void);
pmix_status_t PMIx_Get(const pmix_proc_t *of, const char *key, const pmix_info_t *info, size_t infos,
                       pmix_value_t **value);
pmix_status_t PMIx_Fence_nb(const pmix_proc_t *among, size_t count, const pmix_info_t *info, size_t infos,
                            pmix_op_cbfunc_t then, void *data);
pmix_status_t PMIx_Register_event_handler(pmix_status_t *codes, size_t count, pmix_info_t *info, size_t infos,
                                          pmix_notification_fn_t handler, pmix_hdlr_reg_cbfunc_t then, void *data);
const char *PMIx_Error_string(pmix_status_t status);

extern int pmix_values_held;
#define PMIX_VALUE_RELEASE(value) ((value) = NULL, pmix_values_held--)

#endif
