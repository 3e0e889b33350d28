#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The configuration of blktests. Where LIMIT is one, the cgroup that a test
# makes has this dirty limit, and a task that writes a file all the time. It
# ends when the test removes its cgroup. The file's disk is slow for it, so that
# the limit makes it wait on each machine.
WRITER_BPS=1048576

# shellcheck disable=SC2034 # read by blktests
THROTL_BLKDEV_TYPES=nullb

# devtmpfs has made the nodes, and no udevd has events to wait for.
udevadm() {
	[[ $1 == settle ]]
}

# It is no child of the test, which waits for all of its own.
start_writer() {
	(
		echo "$BASHPID" > "$1/cgroup.procs"
		while dd if=/dev/zero of=/disk/writer bs=64k count=1024 conv=notrunc; do
			:
		done &
	) > /dev/null 2>&1
}

stop_writer() {
	echo 1 > "$1/cgroup.kill"
	until grep -q "populated 0" "$1/cgroup.events"; do
		sleep 0.1
	done
	cat "$CGROUP/memory.dirty_stat" > "$PAUSES"
}

if [[ $LIMIT != max ]]; then
	mkdir() {
		command mkdir "$@" || return
		case ${!#} in
		"$CGROUP")
			echo "$LIMIT" > "$CGROUP/memory.dirty_limit_in_bytes"
			echo "$(cat /sys/block/vda/dev) wbps=$WRITER_BPS" > "$CGROUP/io.max"
			;;
		"$CGROUP"/*)
			start_writer "${!#}"
			;;
		esac
	}

	rmdir() {
		stop_writer "${!#}"
		command rmdir "$@"
	}
fi
