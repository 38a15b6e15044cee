/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/frame/classify.h"

#include <string.h>

void
sw_classes_set(struct sw_classes *classes, const struct sw_params *params, uint16_t port)
{
	classes->qos = sw_port_qos(params, port);
	classes->lossless_pgs = params->mmu.lossless_pgs[port];
	classes->trust_dscp = classes->qos.trust == QOS_TRUST_DSCP;
	for (int i = 0; i < (int)SW_CODE_POINTS; i++) {
		bool dscp = i < TM_DSCPS;
		struct qos_class class = qos_map_classify(&classes->qos, dscp ? i : -1,
							  dscp ? -1 : i - SW_CODE_POINT_NONE - 1);
		uint32_t mtu = params->tcs[class.tc].mtu_bytes;

		classes->tcs[i] = class.tc;
		classes->classes[class.tc] = (struct sw_class){
			.class = class,
			.max_frame_bytes =
				mtu > 0 ? mtu + SW_MTU_OVERHEAD_BYTES - VLAN_TAG_BYTES : UINT32_MAX,
		};
	}
	memset(classes->prios_of_queue, 0, sizeof(classes->prios_of_queue));
	for (unsigned int prio = 0; prio < TM_CLASSES; prio++)
		classes->prios_of_queue[classes->qos.pfc_priority_to_queue_map[prio]] |=
			(uint8_t)(1u << prio);
}
