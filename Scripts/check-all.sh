#!/bin/sh
# Runs every check script on itself (it must find what it is meant to find), then on the tree.
set -u
cd "$(dirname "$0")/.."
failed=0
for check in Scripts/check-*.py; do
  python3 "$check" --self-test && python3 "$check" || failed=1
done
exit $failed
