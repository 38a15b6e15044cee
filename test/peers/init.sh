#!/bin/busybox sh
# SPDX-License-Identifier: BSD-3-Clause
# The guest's only script: load the modules, then run what comes in at a virtio port. A line is a command in base64. The answer is its
# output in base64, and a line "end CODE".
/bin/busybox --install -s /bin
chmod 755 /
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
while read -r module; do
	insmod "/modules/$module.ko" || echo "no module $module"
done </modules.order
ip link set lo up
while [ ! -e /dev/vport0p1 ]; do usleep 10000; done
serve() {
	while read -r line; do
		echo "$line" | base64 -d >/tmp/command
		sh /tmp/command >/tmp/output 2>&1 </dev/null
		code=$?
		base64 /tmp/output
		echo "end $code"
	done
	poweroff -f
}
if grep -q systemd /proc/cmdline; then
	# systemd is process 1 then, and knows nothing of this one.
	(exec 0<>/dev/vport0p1 1>&0 && sleep 2 && echo ready && serve) &
	exec /lib/systemd/systemd </dev/null >/dev/ttyS0 2>&1
fi
exec 0<>/dev/vport0p1 1>&0
echo ready
serve
