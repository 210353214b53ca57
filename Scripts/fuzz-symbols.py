#!/usr/bin/env python3
"""Looks names and lines up in damaged copies of a small program, one process a copy.

usage: fuzz-symbols.py [PROBE] [COUNT] [FIRST SEED]   (default: the debug build's symbols-probe, 10000, 0)

A copy has up to eight bits flipped, most of them in what describes the file, or is cut. A failure is
an end by signal, another exit code than 0, more than 5 s (and 30 s when tried again), or more than 300 MiB of memory.
"""

import os
import random
import resource
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = r'''
static inline __attribute__((always_inline)) int twice(int x) { volatile int y = x; return 2 * y; }
__attribute__((noinline)) static int hidden(int x) { return twice(x) + 1; }
namespace deep { template <class T> __attribute__((noinline)) int work(T x) { return hidden(x); } }
int main(int argc, char **) { return deep::work(argc) + deep::work(argc * 1L); }
'''
SECONDS, MEMORY = 5, 300 << 20


def damaged(sound, seed):
    source = random.Random(seed)
    data = bytearray(sound)
    for _ in range(source.randint(1, 8)):
        at = source.choice([
            lambda: source.randrange(64), lambda: len(data) - 1 - source.randrange(2400),
            lambda: source.randrange(len(data)), lambda: source.randrange(len(data))])()
        data[at] ^= 1 << source.randrange(8)
    if source.randrange(8) == 0:
        del data[source.randrange(len(data)):]
    return bytes(data)


def main():
    probe = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, '.build/debug/symbols-probe')
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10000
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    failures, began, slowest = [], time.monotonic(), 0
    with tempfile.TemporaryDirectory(prefix='fuzz-symbols-') as folder:
        path = os.path.join(folder, 'a')
        with open(path + '.cpp', 'w') as file:
            file.write(SOURCE)
        subprocess.run(['g++', '-O1', '-g', '-o', path, path + '.cpp'], check=True)
        names = subprocess.run(['nm', path], capture_output=True, text=True, check=True).stdout
        addresses = [f[0] for f in map(str.split, names.splitlines()) if len(f) == 3 and f[1] in 'tT']
        with open(path, 'rb') as file:
            sound = file.read()
        for seed in range(first, first + count):
            with open(path, 'wb') as file:
                file.write(damaged(sound, seed))
            start = time.monotonic()
            for limit in (SECONDS, 6 * SECONDS):  # a second time, as the machine may have been busy
                try:
                    code = subprocess.run(
                        [probe, path, '--lines', *addresses], stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL, timeout=limit).returncode
                    break
                except subprocess.TimeoutExpired:
                    code = 'time'
            slowest = max(slowest, time.monotonic() - start)
            if code != 0:
                failures.append((seed, code))
                print(f'seed {seed}: {code}', flush=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
    print(f'{count} copies, {len(failures)} failures, slowest {slowest * 1000:.0f} ms, peak memory '
          f'{peak >> 20} MiB (the compiler included), {time.monotonic() - began:.0f} s')
    sys.exit(1 if failures or peak > MEMORY else 0)


if __name__ == '__main__':
    main()
