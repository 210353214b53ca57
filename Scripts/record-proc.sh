#!/bin/sh
# Copies what perfwatch reads of one process's /proc into plain files, for use as a test fixture.
# usage: record-proc.sh PID DIR [what was run]
#
# DIR gets proc/<pid>/..., proc/stat and so on, and a README with command, kernel and date. Files that
# the kernel refuses (other user, kernel thread) are left out and named in the README. TASKS=n limits
# the number of threads copied (lowest tids first). Paths in cgroup files below the root are replaced by
# /demo, as they name the machine's containers; nothing else is changed. Neither environment nor maps
# are copied. Look for secrets in cmdline before you commit.
set -eu
export LC_ALL=C

if [ $# -lt 2 ]; then
  echo "usage: $0 PID DIR [what was run]" >&2
  exit 2
fi
pid=$1
dir=$2
what=${3-"(not told)"}
limit=${TASKS-8}
refused=

if [ ! -d "/proc/$pid" ]; then
  echo "$0: no process $pid" >&2
  exit 1
fi

# One open and as few reads as cat(1) needs; NUL bytes and missing newlines stay as they are.
copy() {
  mkdir -p "$dir/proc/$(dirname "$1")"
  if ! cat "/proc/$1" >"$dir/proc/$1" 2>/dev/null; then
    rm -f "$dir/proc/$1"
    refused="$refused $1"
  fi
}

for name in stat status statm schedstat comm cmdline smaps_rollup; do copy "$pid/$name"; done
copy "$pid/cgroup"
if [ -f "$dir/proc/$pid/cgroup" ]; then
  sed -i 's|^\([0-9]*:[^:]*:\)/..*$|\1/demo|' "$dir/proc/$pid/cgroup"
fi
count=0
for tid in $(ls "/proc/$pid/task" | sort -n); do
  [ "$count" -lt "$limit" ] || break
  count=$((count + 1))
  for name in stat status schedstat comm syscall children; do copy "$pid/task/$tid/$name"; done
done
for name in stat uptime loadavg pressure/cpu pressure/io pressure/memory; do copy "$name"; done

cat >"$dir/README" <<END
command: $what
kernel: $(uname -s) $(uname -r | cut -d- -f1) $(uname -m)
date: $(date -u +%Y-%m-%d)
seen by: uid $(id -u)
threads copied: $count of $(ls "/proc/$pid/task" | wc -l)
refused:${refused:- nothing}
made by: Scripts/record-proc.sh; cgroup paths below the root replaced by /demo
END
