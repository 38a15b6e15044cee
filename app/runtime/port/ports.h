/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ethernet devices as nodes need them: short rings, no offloads, promiscuous; one queue each way,
 * or one per lcore, with RSS over UDP ports if the device has it.
 *
 * A frame in a deep device ring is beyond the reach of WRED, PFC and the scheduler (about 11 us for
 * 128 frames of 1082 bytes at 100 Gb/s), so the transmit ring is as short as the driver allows. One
 * line reports each feature that a device lacks.
 */
#ifndef QUENCH_APP_RUNTIME_PORT_PORTS_H
#define QUENCH_APP_RUNTIME_PORT_PORTS_H

#include <stdbool.h>
#include <stdint.h>

struct port_rss;
struct rte_mempool;

#define PORT_RX_DESCRIPTORS 512
#define PORT_TX_DESCRIPTORS 128

/* Device name of a port that may have any device. */
#define PORT_ANY_DEVICE "any"

/** Warn of more ports than this DPDK can have devices, for a run without devices. */
void ports_warn_of_count(uint16_t n, const char *config);

/**
 * Find the devices of n ports among those that EAL probed.
 *
 * @param names  EAL's name of each port's device, or PORT_ANY_DEVICE: the next in EAL's order that
 *               no port names; NULL: any for all ports.
 * @return       0, and no two ports have the same device; or APP_BAD_USAGE after an error line, if
 *               EAL did not find exactly n devices, or a named one is missing or named twice.
 */
int ports_find(uint16_t *ethdevs, uint16_t n, const char *const *names, const char *config);

/**
 * Data room of mbufs for frames of these devices.
 *
 * @param frame_bytes  Largest frame, with FCS; below 16 KB.
 * @return             Bytes without headroom: whatever the drivers do with it, a frame fits.
 */
uint16_t ports_data_room(const uint16_t *ethdevs, uint16_t n, uint32_t frame_bytes);

/**
 * Default of shaper_burst_ns: a NIC's on_nic_ns; if all devices are virtual, what a program that
 * sleeps for up to idle_sleep_ns, and shares its CPU, needs.
 */
uint32_t ports_burst_ns(const uint16_t *ethdevs, uint16_t n, uint32_t on_nic_ns,
			uint64_t idle_sleep_ns);

struct port_params {
	uint64_t link_speed_bps; /* configured; only compared with the device's */
	uint16_t largest_frame;  /* without FCS */
	struct rte_mempool *pool;
	uint16_t rx_queues, tx_queues; /* 0: one */
	bool must_fit;                 /* refuse a NIC that cannot take the largest frame */
	struct port_rss *rss;          /* RSS over several queues; NULL: not wanted */
};

/**
 * Configure and start a device.
 *
 * @return 0, or after an error line APP_FAILED, or APP_BAD_USAGE if the frames do not fit.
 */
int port_open(uint16_t ethdev, const struct port_params *params);

/** Set mac to the device's address if mac is zero. @return 0, or APP_FAILED after an error line. */
int port_address(uint16_t ethdev, uint8_t mac[6]);

/** Warn when device, polling lcore and pool are not on one NUMA node. */
void port_check_numa(uint16_t ethdev, unsigned int lcore, const struct rte_mempool *pool);

#endif
