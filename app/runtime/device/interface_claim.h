/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One program per kernel interface: two that read the same packets would both answer and both
 * forward them.
 *
 * A claim is a listening socket whose abstract name has the interface's. Such names belong to the
 * network namespace, as interfaces do, and end with the process, however it ends. Any local user
 * can make one, so only those of root, of the program's own user and of the services' are believed.
 */
#ifndef QUENCH_APP_RUNTIME_DEVICE_INTERFACE_CLAIM_H
#define QUENCH_APP_RUNTIME_DEVICE_INTERFACE_CLAIM_H

/**
 * Claim the interfaces that a device of net_af_packet, net_af_xdp or net_pcap uses, until the
 * process ends.
 *
 * @param device  Name and arguments, as of EAL's --vdev.
 * @return        0, perhaps after a warning; or -EBUSY after an error line that names the interface
 *                and the other program.
 */
int interface_claim(const char *device);

#endif
