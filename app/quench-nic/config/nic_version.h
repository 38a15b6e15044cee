/* SPDX-License-Identifier: BSD-3-Clause */
/* The configurations of quench-nic, read at start-up and while it runs. */
#ifndef QUENCH_APP_QUENCH_NIC_CONFIG_NIC_VERSION_H
#define QUENCH_APP_QUENCH_NIC_CONFIG_NIC_VERSION_H

#include "runtime/desk/active_config.h"
#include "ctl/nic_config/nic_config.h"
#include "nic/change/await.h"
#include "quench-nic/flows/flow_registry.h"
#include "quench-nic/flows/flows.h"
#include "quench-nic/nodes/nodes.h"

struct nic_version {
	struct config_version version;
	struct nic_config config;
	bool ends;                      /* it has a requester with an end */
	struct flow_registry *registry; /* has its flows; NULL: not assigned yet */
	/* for nic_reload() */
	struct nic_reload reload;
	struct nic_flow_update *flows; /* by flow_id */
	uint32_t *removed, *added;     /* flow_ids */
	struct nic_frames_update *streams;
	struct nic_awaits awaits;
};

/** Read a whole file; now: see nic_config_read(). @return owned by the caller, or NULL with err. */
struct nic_version *nic_version_read(struct config *cfg, const struct nic_config *now,
				     struct config_error *err);

/** Add the flows of the first version, before the nodes run. @return 0, or -errno with err. */
int nic_version_begin(struct flow_registry *registry, struct nic_version *v,
		      struct config_error *err);

/* Operations for struct active_config, whose program is a struct nic_config_context. */
extern const struct active_config_ops nic_config_ops;

struct connections;
struct jobs;

struct nic_config_context {
	const struct active_config *active;
	const struct nic_nodes *nodes;
	struct flow_registry *registry;
	struct flows *flows; /* of the main lcore; refers to the active version */
	struct connections *connections;
	struct jobs *jobs;
};

static inline const struct nic_config *
nic_config_of(const struct config_version *v)
{
	return &((const struct nic_version *)v)->config;
}

#endif
