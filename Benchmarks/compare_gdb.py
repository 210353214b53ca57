#!/usr/bin/env python3
"""Are the frames of `perfwatch dump` those of gdb, on running real programs?

usage: compare_gdb.py [--moments 40] [--seed N] [--only NAME,...] [--names] [-- COMMAND...]

Each program runs; at a random moment it is stopped (SIGSTOP), so that both see the same, and goes on
afterwards. Compared are the program counters of every thread, as addresses of their files, down to the
outermost frame (`set backtrace past-main on`); frames of inlined functions and of tail calls, which are
not on the stack, apart. Prints each stack that differs, where, and who goes further; with --names also
names that differ. Ends with 1 if any stack differs. The differences that are known, and why, are in
Docs/unwinding.md.
"""

import argparse
import json
import os
import random
import signal
import struct
import subprocess
import sys
import time

import comparetargets
from common import HERE, PERFWATCH, Failed

QUIET = {**os.environ, 'DEBUGINFOD_URLS': ''}


class Space:
    """From addresses of a process to those of its files, as symbol tables count."""

    def __init__(self, pid):
        self.pid, self.mapped, self.loads = pid, [], {}
        with open(f'/proc/{pid}/maps') as file:
            for line in file:
                fields = line.split(maxsplit=5)
                start, end = (int(number, 16) for number in fields[0].split('-'))
                path = fields[5].rstrip('\n').removesuffix(' (deleted)') if len(fields) > 5 else ''
                self.mapped.append((start, end, int(fields[2], 16), path))

    def place(self, address):
        """(module, address in it); what has no file is where it is in the process."""
        for start, end, offset, path in self.mapped:
            if start <= address < end:
                if path == '[vdso]':
                    return path, address - start
                if not path.startswith('/') or path.startswith(('/memfd:', '/dev/zero')):
                    return '', address
                at = address - start + offset
                for low, high, virtual in self.segments(start, end):
                    if low <= at < high:
                        return os.path.basename(path), virtual + at - low
                return os.path.basename(path), at
        return '', address

    def segments(self, start, end):
        name = f'/proc/{self.pid}/map_files/{start:x}-{end:x}'
        if name not in self.loads:
            found = []
            with open(name, 'rb') as file:
                head = file.read(64)
                if head[:5] == b'\x7fELF\x02':
                    at, size, count = struct.unpack_from('<Q', head, 32)[0], *struct.unpack_from('<HH', head, 54)
                    file.seek(at)
                    table = file.read(size * count)
                    for i in range(count):
                        kind, _, offset, virtual, _, length = struct.unpack_from('<IIQQQQ', table, i * size)
                        if kind == 1:
                            found.append((offset, offset + length, virtual))
            self.loads[name] = found
        return self.loads[name]


def gdb_frames(pid):
    run = subprocess.run(
        ['gdb', '-nx', '-batch', '-p', str(pid), '-x', os.path.join(HERE, 'gdbframes.py')],
        capture_output=True, text=True, errors='replace', env=QUIET, timeout=300)
    for line in run.stdout.splitlines():
        if line.startswith('FRAMES '):
            return {int(tid): thread for tid, thread in json.loads(line[7:]).items()}
    raise Failed('gdb: ' + run.stderr.strip()[-300:])


def our_frames(pid):
    run = subprocess.run([PERFWATCH, 'dump', '--json', '--no-lines', str(pid)], capture_output=True,
                         text=True, timeout=120)
    if run.returncode:
        raise Failed(f'perfwatch dump: {run.stderr.strip()}')
    dump, threads = json.loads(run.stdout), {}
    for stack in dump['stacks']:
        for tid in stack['threads']:
            frames = [(('' if (f['module'] or '[')[0] == '[' and f['module'] != '[vdso]'
                        else os.path.basename(f['module'])), int(f['offset'], 16), f['function'], f['found'])
                      for f in stack['frames'] if not f.get('inlined')]
            threads[tid] = {'frames': frames, 'end': stack.get('truncated') or 'complete'}
    for thread in dump['threads']:
        threads.setdefault(thread['tid'], {'frames': [], 'end': thread.get('missing')})
    return threads


def plain(name):
    """A name without parameters, template arguments and what compilers add."""
    name, depth, kept = name or '', 0, ''
    name = name.replace('(anonymous namespace)', '{anonymous}').removeprefix('__GI_')
    for letter in name:
        depth += {'<': 1, '>': -1}.get(letter, 0)
        if letter == '(' and depth == 0 and kept:
            break
        if depth == 0 and letter != '>':
            kept += letter
    return kept.split('.')[0].split('@')[0].split(' ')[-1].lstrip('_')


def compare(label, pid, names):
    """Prints what differs; gives (stacks, those that differ, frames), and adds to `names`."""
    theirs, ours, space = gdb_frames(pid), our_frames(pid), Space(pid)
    different, frames = 0, 0
    for tid, thread in theirs.items():
        left = [(*space.place(pc), name, kind) for pc, name, kind in thread['frames']]
        own = ours.get(tid, {'frames': [], 'end': 'no such thread'})
        right = own['frames']
        frames += len(left)
        same = 0
        while same < min(len(left), len(right)) and left[same][:2] == right[same][:2]:
            same += 1
        for theirs_one, ours_one in zip(left[:same], right[:same]):
            if plain(theirs_one[2]) != plain(ours_one[2]):
                names.setdefault((label.split()[0], theirs_one[2] or '?', ours_one[2] or '?'), theirs_one[:2])
        if same == len(left) == len(right):
            continue
        different += 1
        print(f'{label}, thread {tid}: {same} the same; gdb has {len(left)} ({thread["end"]}), '
              f'ours {len(right)} ({own["end"]})')
        for who, found in (('gdb ', left), ('ours', right)):
            for number in range(max(0, same - 1), min(len(found), same + 3)):
                module, address, name, how = found[number]
                print(f'    {who} #{number} {module or "[memory]"} {address:#x} {(name or "?")[:80]} {how}')
    return len(theirs), different, frames


def stopped(pid):
    """Stops a process and waits until all of its threads have stopped."""
    os.kill(pid, signal.SIGSTOP)
    for _ in range(500):
        states = set()
        for tid in os.listdir(f'/proc/{pid}/task'):
            with open(f'/proc/{pid}/task/{tid}/stat') as file:
                states.add(file.read().rpartition(')')[2].split()[0])
        if states <= {'T', 'Z', 'X', 'D'}:
            return
        time.sleep(0.01)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--moments', type=int, default=40, help='of the real programs, in all')
    parser.add_argument('--seed', type=int, default=None)
    parser.add_argument('--only', default='')
    parser.add_argument('--names', action='store_true')
    parser.add_argument('command', nargs='*', help='another program to compare')
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.randrange(1 << 30)
    chance = random.Random(seed)
    print(f'{PERFWATCH}, seed {seed}', flush=True)
    programs = comparetargets.every(options.moments)
    if options.command:
        programs = [comparetargets.Program(' '.join(options.command), options.command, 3)]
    totals, names = [0, 0, 0], {}
    for program in programs:
        if options.only and not any(program.name.startswith(name) for name in options.only.split(',')):
            continue
        try:
            with program as running:
                for moment in range(program.moments):
                    time.sleep(chance.uniform(0.05, 0.5))
                    pid = running.pid()
                    stopped(pid)
                    try:
                        found = compare(f'{program.name} {moment + 1}', pid, names)
                    finally:
                        os.kill(pid, signal.SIGCONT)
                    totals = [sum(pair) for pair in zip(totals, found)]
                    print(f'{program.name} {moment + 1}: {found[0]} stacks, {found[2]} frames, '
                          f'{found[1]} differ', flush=True)
        except (Failed, OSError, ValueError, subprocess.SubprocessError) as error:
            print(f'{program.name}: not compared: {error}', flush=True)
    for (program, gdb, ours), (module, address) in names.items() if options.names else ():
        print(f'name, {program}, {module} {address:#x}: gdb {gdb[:100]} | ours {ours[:100]}')
    print(f'{totals[0]} stacks, {totals[2]} frames, {totals[1]} differ; {len(names)} names differ')
    sys.exit(1 if totals[1] else 0)


if __name__ == '__main__':
    main()
