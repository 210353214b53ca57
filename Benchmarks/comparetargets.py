"""The programs that compare_gdb.py looks at: those that are installed, and odd stacks of our own.

Each is in a session of its own: a stopped program whose process group loses its session's leader
would be ended by SIGHUP.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time

from capture import some_libraries
from common import HERE, Failed, binary, end, start

ROOT = os.path.dirname(HERE)
PYTHON = '''
import json, re
def deep(n):
    if n: return deep(n - 1)
    for i in range(10**9):
        json.dumps([{"a": i, "b": [1.5] * 20}] * 20); re.findall(r"(a|b)+c", "ababab" * 20); sorted(range(500), key=lambda x: -x)
deep(12)
'''
PERL = '''
sub deep { my $n = shift; return deep($n - 1) if $n;
  while (1) { my @a = sort { $b <=> $a } map { $_ * 7 % 31 } 1..300; my $s = join ",", @a; $s =~ s/(\\d+)/<$1>/g; } }
deep(12);
'''
BASH = 'f() { if [ $1 -gt 0 ]; then f $(($1 - 1)); else for ((i = 0; ; i++)); do s=${i//1/x}; a[i % 100]=$s; done; fi; }; f 8'
NODE = '''
function deep(n) { if (n) return deep(n - 1); for (;;) {
  JSON.stringify([..."x".repeat(500)].map((c, i) => ({c, i}))); "ab".repeat(99).replace(/(a)(b)/g, "$2$1"); [3, 1, 2].sort(); } }
deep(12);
'''


class Program:
    """A running program; started anew where it ends by itself."""

    def __init__(self, name, command, moments, beside=None, ready=0.3, find=None, env=None):
        self.name, self.command, self.moments = name, command, moments
        self.beside, self.ready, self.find, self.env = beside, ready, find, env
        self.process, self.others = None, []

    def __enter__(self):
        if not shutil.which(self.command[0]):
            raise Failed(f'{self.command[0]} is not there')
        return self

    def pid(self):
        """Of the program, which runs for a while yet."""
        if self.process is None or self.process.poll() is not None:
            self.stop()
            self.process = start(self.command, env=self.env, start_new_session=True)
            time.sleep(self.ready)
            if self.beside:
                self.others = [start(command) for command in self.beside]
                time.sleep(0.3)
        if self.process.poll() is not None:
            raise Failed(f'it ended with {self.process.returncode}')
        return self.find(self.process.pid) if self.find else self.process.pid

    def stop(self):
        for process in self.others:
            end(process)
        if self.process:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)  # with what it started (Xvfb)
            except ProcessLookupError:
                pass
            self.process.wait()
        self.others = []

    def __exit__(self, *_):
        self.stop()


class Swift(Program):
    """The compiler, with work for a minute."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        path = os.path.join(self.folder.name, 'work.swift')
        with open(path, 'w') as file:
            for i in range(800):
                file.write(f'func work{i}(_ x: [Int]) -> Int {{ x.map {{ $0 * {i} + 1 }}.filter {{ $0 % 3 == 0 }}'
                           f'.reduce(0, +) + (x.first ?? 1) * 2 + x.count - {i} * 3 }}\n')
        self.command = ['swiftc', '-frontend', '-c', '-O', path, '-o', os.path.join(self.folder.name, 'work.o')]
        return super().__enter__()

    def __exit__(self, *_):
        self.stop()
        self.folder.cleanup()


class Snapshot(Program):
    """Tests/Targets/src/self_snapshot.c in one of its ways, waiting at the bottom of its stack."""

    def __init__(self, way, mode, depth):
        program = os.path.join(ROOT, 'Tests', 'Targets', 'bin', 'self_snapshot' + (f'_{way}' if way else ''))
        super().__init__(f'snapshot {way or "usual"} {mode} {depth}', [program, mode, str(depth), os.devnull], 1)

    def pid(self):
        if self.process is None:
            self.process = start(self.command, stdin=subprocess.PIPE, start_new_session=True)
            time.sleep(0.3)
        return self.process.pid

    def stop(self):
        if self.process:
            end(self.process)
            self.process.stdin.close()


class Spin(Program):
    """src/spin.c, which counts its gaps in a file that has to be there."""

    def __init__(self, name, depth, threads=0, libraries=0, is_deleted=False, is_stripped=False):
        super().__init__(name, [binary('spin')], 1)
        self.arguments = [str(depth), str(threads)]
        self.libraries, self.is_deleted, self.is_stripped = libraries, is_deleted, is_stripped

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        ring, program, paths = (os.path.join(self.folder.name, name) for name in ('ring', 'spin', 'list'))
        open(ring, 'w').close()
        shutil.copy(binary('spin'), program)
        if self.is_stripped:
            subprocess.run(['strip', program], check=True)
        self.command = [program, ring, *self.arguments]
        if self.libraries:
            with open(paths, 'w') as file:
                file.write('\n'.join(some_libraries(self.libraries)))
            self.command.append(paths)
            self.ready = 4
        return super().__enter__()

    def pid(self):
        pid = super().pid()
        if self.is_deleted:
            os.unlink(self.command[0])
            self.is_deleted = False
        return pid

    def __exit__(self, *_):
        self.stop()
        self.folder.cleanup()


def redis():
    port = '7393'
    server = ['redis-server', '--port', port, '--save', '', '--appendonly', 'no', '--io-threads', '2']
    load = ['redis-benchmark', '-p', port, '-n', '100000000', '-q', '-c', '20', '-t',
            'set,get,lpush,zadd,lrange_100']
    return server, [load]


def gtk():
    """A dialogue that is drawn all the time; Xvfb is its parent's first argument."""
    script = 'Xvfb :97 -screen 0 640x480x24 >/dev/null 2>&1 & sleep 1; DISPLAY=:97 exec yad --progress --pulsate'
    return ['sh', '-c', f'{script} --text "$(seq 200)"']


def every(moments):
    """The real programs share the moments; the odd stacks have one each."""
    server, load = redis()
    real = [
        lambda n: Program('python', ['/usr/bin/python3', '-c', PYTHON], n),
        lambda n: Program('perl', ['perl', '-e', PERL], n),
        lambda n: Program('xz', ['xz', '-9', '-T2', '-c', '/dev/zero'], n),
        lambda n: Program('bash', ['bash', '-c', BASH], n),
        lambda n: Program('node', ['node', '-e', NODE], n),
        lambda n: Program('git', ['git', '-C', ROOT, 'log', '-p', '--stat', '--all', '-M', '-C'], n, ready=0.1),
        lambda n: Program('redis', server, n, beside=load),
        lambda n: Swift('swift-frontend', ['swiftc'], n, ready=1.5),
        lambda n: Program('gtk', gtk(), n, ready=3),
    ]
    shares = [moments // len(real) + (i < moments % len(real)) for i in range(len(real))]
    programs = [make(share) for make, share in zip(real, shares) if share]
    for way in ('', 'fp', 'debug_frame', 'static', 'static_pie', 'no_pie', 'stripped', 'musl', 'no_header'):
        programs += [Snapshot(way, 'plain', depth) for depth in (24, 1004)]
    programs += [Snapshot(way, mode, 24) for way in ('', 'musl')
                 for mode in ('signal', 'altstack', 'jit', 'badcall', 'vdso')]
    return programs + [
        Spin('spin 20', 20), Spin('spin 1000', 1000), Spin('spin 4000', 4000),
        Spin('stripped', 20, is_stripped=True), Spin('deleted', 20, is_deleted=True),
        Spin('threads 100', 20, threads=100), Spin('threads 1000', 20, threads=1000),
        Spin('libraries', 20, libraries=450),
    ]
