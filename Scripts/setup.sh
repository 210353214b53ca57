#!/bin/sh
# Installs the Debian packages that are missing, and does nothing when none is.
# usage: setup.sh GROUP...   (build, test, bench)
set -eu

packages() {
  case "$1" in
    build) echo gcc libc6-dev make libdw-dev libelf-dev zlib1g-dev liblzma-dev libbz2-dev libiberty-dev libsqlite3-dev ;;
    test) echo g++ binutils elfutils xz-utils python3 python3-jsonschema python3-junitparser python3-yaml libxml2-utils procps time redis-server musl-tools ;;
    bench) echo binutils elfutils gdb libunwind-dev python3 python3-psutil python3-venv procps ;;
    *) echo "setup: no group named $1" >&2; exit 2 ;;
  esac
}

command -v swift >/dev/null || {
  echo "setup: Swift 6.3 is needed and not in PATH; see https://www.swift.org/install/linux/" >&2
  exit 1
}

wanted=""
for group in "$@"; do wanted="$wanted $(packages "$group")"; done

command -v dpkg-query >/dev/null || {
  echo "setup: no Debian system; make sure that you have what these packages hold:$wanted" >&2
  exit 0
}

missing=""
for package in $wanted; do
  case "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)" in
    installed) ;;
    *) missing="$missing $package" ;;
  esac
done
[ -n "$missing" ] || exit 0

root=""
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || {
    echo "setup: run this as root: apt-get install$missing" >&2
    exit 1
  }
  root=sudo
fi

echo "setup: installing$missing"
# Installed for the tests, not to serve: no service may start, now or at boot.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap '$root rm -f "$policy"' EXIT
  trap 'exit 1' HUP INT TERM
  printf '#!/bin/sh\nexit 101\n' | $root tee "$policy" >/dev/null
  $root chmod 755 "$policy"
fi
$root apt-get update -q
# shellcheck disable=SC2086  # a list of names
$root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
case "$missing" in
  *redis-server*)
    if [ -d /run/systemd/system ]; then $root systemctl disable --now redis-server || true; fi ;;
esac
