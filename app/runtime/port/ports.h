/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ethernet devices as the nodes want them: short rings, no offloads, promiscuous; a queue each way,
 * or one for each lcore, with RSS over UDP ports where the device has it.
 *
 * A frame in a deep device ring is beyond the reach of WRED, PFC and the scheduler (about 11 us for
 * 128 frames of 1082 bytes at 100 Gb/s), so the transmit ring is as short as the driver takes. What
 * a device will not do is said in one line.
 */
#ifndef QUENCH_APP_RUNTIME_PORT_PORTS_H
#define QUENCH_APP_RUNTIME_PORT_PORTS_H

#include <stdbool.h>
#include <stdint.h>

struct port_rss;
struct rte_mempool;

#define PORT_RX_DESCRIPTORS 512
#define PORT_TX_DESCRIPTORS 128

/* A port that takes whatever device is left. */
#define PORT_ANY_DEVICE "any"

/**
 * Find the devices of n ports among those that EAL probed.
 *
 * @param names  EAL's name of each port's device or PORT_ANY_DEVICE, which is the next in EAL's
 *               order that none names; NULL: any for all.
 * @return       0, or APP_BAD_USAGE after an error line if they are not exactly n, or one that is
 *               named is not there or named twice.
 */
int ports_find(uint16_t *ethdevs, uint16_t n, const char *const *names, const char *config);

struct port_params {
	uint64_t link_speed_bps; /* from the configuration; the device's word is only compared with
				    it */
	uint16_t largest_frame;  /* without FCS */
	struct rte_mempool *pool;
	uint16_t rx_queues, tx_queues; /* 0: one */
	bool must_fit;                 /* refuse a NIC that cannot take the largest frame */
	struct port_rss *rss;          /* what RSS does among several queues; NULL: not wanted */
};

/**
 * Configure and start a device.
 *
 * @return 0, or after an error line APP_FAILED, or APP_BAD_USAGE if the frames do not fit.
 */
int port_open(uint16_t ethdev, const struct port_params *params);

/** Put the device's address into mac if mac is zero. @return 0, or APP_FAILED after an error
 * line. */
int port_address(uint16_t ethdev, uint8_t mac[6]);

/** Warn when device, polling lcore and pool are not on one NUMA node. */
void port_check_numa(uint16_t ethdev, unsigned int lcore, const struct rte_mempool *pool);

#endif
