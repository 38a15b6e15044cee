/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One program for each thing that a device uses outside its process: a kernel interface, an end of
 * a memif, a capture file that it writes. Two that read the packets of one interface would both
 * answer and both forward them; a second end of a memif never gets a link; two writers of a file
 * spoil it.
 *
 * A claim is a listening socket whose abstract name has that of the thing. Such names belong to the
 * network namespace, as interfaces do, and end with the process, however it ends. Any local user
 * can make one, so only those of root, of the program's own user and of the services' are believed.
 */
#ifndef QUENCH_APP_RUNTIME_DEVICE_DEVICE_CLAIM_H
#define QUENCH_APP_RUNTIME_DEVICE_DEVICE_CLAIM_H

/**
 * Claim what a device of net_af_packet, net_af_xdp, net_pcap, net_tap or net_memif uses, until the
 * process ends. Devices of net_ring and net_null use nothing outside their process.
 *
 * @param device  Name and arguments, as of EAL's --vdev.
 * @return        0, perhaps after a warning; or -EBUSY after an error line that names the thing and
 *                the other program.
 */
int device_claim(const char *device);

#endif
