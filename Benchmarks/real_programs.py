#!/usr/bin/env python3
"""Real programs under watch: no stall where there is none, and the one that was provoked is found.

usage: real_programs.py [--seconds 120] [--together 3] [--observer auto] [--threshold 250ms] [NAME ...]

Every program runs idle or under load for so long while `perfwatch attach` watches it: each stall that
is reported then is a false one. After that a stall is provoked, where the program has a way, and has
to be found with about its length. What is not installed is skipped. Ends with 1 if anything failed.
"""

import argparse
import concurrent.futures
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

from common import HERE, PERFWATCH

REAL = os.path.join(HERE, 'real')
QUIET = {'stdin': subprocess.DEVNULL, 'stdout': subprocess.DEVNULL, 'stderr': subprocess.DEVNULL}


def ask(port, text, timeout=10):
    with socket.create_connection(('127.0.0.1', port), timeout=timeout) as line:
        line.sendall(text.encode())
        return line.recv(100)


def get(port, path='/'):
    urllib.request.urlopen(f'http://127.0.0.1:{port}{path}', timeout=10).read()


def redis_cli(port, *words):
    subprocess.run(['redis-cli', '-p', str(port), *words], **QUIET, timeout=20)


def each(seconds, action):
    """A load: does something again and again."""
    def load(until):
        while time.monotonic() < until:
            try:
                action()
            except OSError:
                pass
            time.sleep(seconds)
    return load


def command(*words):
    return lambda: subprocess.run(words, **QUIET, timeout=60)


def redis(port):
    return ['redis-server', '--port', str(port), '--save', '', '--appendonly', 'no',
            '--enable-debug-command', 'local']


NGINX = '''daemon off; master_process off; pid {0}/pid; error_log /dev/null; events {{}}
http {{ access_log off; client_body_temp_path {0}/b; proxy_temp_path {0}/p; fastcgi_temp_path {0}/f;
uwsgi_temp_path {0}/u; scgi_temp_path {0}/s;
server {{ listen 127.0.0.1:{1}; location / {{ return 200 "x"; }} }} }}'''


def nginx(folder, port):
    with open(os.path.join(folder, 'nginx.conf'), 'w') as file:
        file.write(NGINX.format(folder, port))
    return ['nginx', '-e', '/dev/null', '-p', folder, '-c', os.path.join(folder, 'nginx.conf')]


def built(folder, name, *words):
    """A program made on the spot."""
    output = os.path.join(folder, name)
    done = subprocess.run([*words, '-o', output], capture_output=True, text=True, cwd=REAL)
    if done.returncode:
        raise OSError(f'{words[0]}: {done.stderr.strip()[-100:]}')
    return [output]


def windowed(*words):
    return ['xvfb-run', '-a', *words]


def programs(folder):
    """name: (needed programs, command, load, [(what, how, milliseconds)], which process to watch)."""
    def source(name):
        return os.path.join(REAL, name)

    loops = os.path.join(HERE, 'bin', 'loops')
    lua = 'local t = redis.call("time"); local e = t[1] * 1000 + t[2] / 1000 + 700; ' \
        'repeat t = redis.call("time") until t[1] * 1000 + t[2] / 1000 > e'
    return {
        'redis idle': (['redis-server'], lambda: redis(7401), None, [
            ('DEBUG SLEEP 0.6', lambda: redis_cli(7401, 'DEBUG', 'SLEEP', '0.6'), 600),
            ('a Lua script of 0.7 s', lambda: redis_cli(7401, 'EVAL', lua, '0'), 700)], None),
        'redis loaded': (['redis-server', 'redis-benchmark'], lambda: redis(7402),
                         each(0.3, command('redis-benchmark', '-p', '7402', '-n', '20000', '-q',
                                           '-t', 'set,get,lpush')), [
            ('DEBUG SLEEP 0.6', lambda: redis_cli(7402, 'DEBUG', 'SLEEP', '0.6'), 600)], None),
        'nginx under wrk': (['nginx', 'wrk'], lambda: nginx(folder, 7403),
                            each(1, command('wrk', '-t1', '-c8', '-d2', 'http://127.0.0.1:7403/')),
                            [], None),
        'node http': (['node'], lambda: ['node', source('http.js'), '7404'],
                      each(0.01, lambda: get(7404)), [
            ('execSync of 0.6 s', lambda: get(7404, '/stall?ms=600'), 600),
            ('computing for 0.5 s', lambda: get(7404, '/spin?ms=500'), 500)], None),
        'python asyncio': (['python3'], lambda: ['python3', source('asyncio_server.py'), '7405'],
                           each(0.02, lambda: ask(7405, 'hello\n')), [
            ('time.sleep(0.5)', lambda: ask(7405, 'stall 0.5\n'), 500)], None),
        'GTK dialog': (['xvfb-run', 'yad'],
                       lambda: windowed('yad', '--progress', '--pulsate', '--title', 'x'), None, [],
                       'yad'),
        'xterm': (['xvfb-run', 'xterm'],
                  lambda: windowed('xterm', '-e', 'sh', '-c',
                                   'while :; do date; sleep 0.2; done'), None, [], 'xterm'),
        'Swift RunLoop': (['swiftc'], lambda: built(folder, 'runloop', 'swiftc', '-O', 'runloop.swift'),
                          None, [], None),
        'libdispatch': (['swiftc'], lambda: built(folder, 'dispatch', 'swiftc', '-O', 'dispatch.swift'),
                        None, [], None),
        'Go http': (['go'], lambda: go(folder), None, [], None),
        'Rust executor': (['rustc'], lambda: built(folder, 'executor', 'rustc', '-O', 'executor.rs'),
                          None, [], None),
        'saturated epoll': ([], lambda: [loops, 'busy'], None, [], None),
        '60 frames a second': ([], lambda: [loops, 'frames'], None, [], None),
    }


def go(folder):
    output = os.path.join(folder, 'server')
    done = subprocess.run(['go', 'build', '-o', output, 'server.go'], capture_output=True, text=True,
                          cwd=REAL, env={**os.environ, 'GOCACHE': folder, 'GO111MODULE': 'off'})
    if done.returncode:
        raise OSError(done.stderr.strip()[-100:])
    return [output]


def descendant(pid, name):
    """The first process of that name below `pid`."""
    for _ in range(100):
        below = [pid]
        for parent in below:
            try:
                with open(f'/proc/{parent}/task/{parent}/children') as file:
                    below += [int(word) for word in file.read().split()]
                with open(f'/proc/{parent}/comm') as file:
                    if file.read().strip() == name:
                        return parent
            except OSError:
                pass
        time.sleep(0.1)
    raise OSError(f'no process {name}')


def watch(pid, seconds, options, meanwhile):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'summary.json')
        process = subprocess.Popen(
            [PERFWATCH, 'attach', str(pid), '-d', f'{seconds}s', '--quiet', '--summary', path,
             '--observer', options.observer, '--stall-threshold', options.threshold],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        meanwhile(time.monotonic() + seconds)
        said = process.communicate()[1].decode(errors='replace').strip()
        if process.returncode:
            raise OSError(f'perfwatch ended with {process.returncode}: {said}')
        with open(path) as file:
            return json.load(file)


def describe(stall):
    return (f'{stall["duration"] / 1e6:.0f} ms at {stall["start"] / 1e9:.1f} s on {stall["thread"]}, '
            f'{stall["kind"]}, {stall["observer"]}, {stall["certainty"]}: {stall["cause"]["sentence"]}')


def judge(name, entry, options):
    needed, start, load, provoked, child = entry
    missing = [program for program in needed if not shutil.which(program)]
    if missing:
        return f'skip  {name}: not installed: {", ".join(missing)}', True, 0
    lines, good = [], True
    process = subprocess.Popen(start(), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        time.sleep(2)
        pid = descendant(process.pid, child) if child else process.pid
        summary = watch(pid, options.seconds, options, load or time_passes)
        loops = ', '.join(
            f'{loop["name"]} by {loop["observer"]} {loop["turns"] or "?"} turns, longest '
            f'{(loop["longestTurn"] or 0) / 1e6:.0f} ms' + (
                f', not judged: {loop["verdictless"]}' if loop['verdictless'] else '')
            for loop in summary['loops'])
        good = not summary['stalls']
        lines += [f'      false: {describe(stall)}' for stall in summary['stalls']]
        for what, provoke, length in provoked:
            def meanwhile(until):
                time.sleep(3)
                provoke()
            stalls = watch(pid, 6, options, meanwhile)['stalls']
            lengths = [stall['duration'] / 1e6 for stall in stalls]
            found = [each for each in lengths if abs(each - length) < 0.15 * length + 30]
            if len(found) != 1 or len(stalls) != 1:
                good = False
            lines.append(f'      provoked: {what}: ' + ('; '.join(map(describe, stalls)) or 'NOT FOUND'))
        lines.insert(0, f'{"ok" if good else "FAIL":5} {name}: {loops or "no loop"}')
    except (OSError, subprocess.SubprocessError, KeyError) as error:
        return f'FAIL  {name}: {error}', False, 0
    finally:
        os.killpg(process.pid, 9)
        process.wait()
    return '\n'.join(lines), good, options.seconds


def time_passes(until):
    time.sleep(max(0, until - time.monotonic()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=int, default=120)
    parser.add_argument('--together', type=int, default=3)
    parser.add_argument('--observer', default='auto')
    parser.add_argument('--threshold', default='250ms')
    parser.add_argument('names', nargs='*')
    options = parser.parse_args()
    failed, watched = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        every = programs(folder)
        chosen = options.names or list(every)
        for name in chosen:
            if name not in every:
                parser.error(f'no program {name}; there are: {", ".join(every)}')
        with concurrent.futures.ThreadPoolExecutor(options.together) as pool:
            jobs = [pool.submit(judge, name, every[name], options) for name in chosen]
            for job in concurrent.futures.as_completed(jobs):
                text, good, seconds = job.result()
                failed += not good
                watched += seconds
                print(text, flush=True)
    print(f'{watched / 60:.0f} minutes watched by {options.observer}, {failed} programs failed')
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
