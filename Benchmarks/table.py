"""Rounds of raw values to the rows of the table: ours, peer, ratio, limits, met or not."""

import statistics

KINDS = ('busy', 'awake')
SLOWDOWN = {'proc': (1, 0.3), 'kernel': (3, 1)}  # percent; the kernel's is stated, so chosen
# Percent of a core for so many loops, all sampling included: must, stretch. Chosen.
LOOP_SHARES = {1: (1, 0.5), 4: (2, 1), 32: (8, 4)}


def row(title, rounds, ours, peer, must, stretch, unit='us', invert=False):
    """`ours` and `peer` take a round's values; KeyError or TypeError there means not measured.

    The ratio is ours / peer and has to be small; inverted, it is peer / ours and has to be large.
    """
    def every(function):
        found = []
        for values in rounds:
            try:
                found.append(function(values))
            except (KeyError, TypeError, ZeroDivisionError):
                pass
        return found

    def ratio(values):
        return peer(values) / ours(values) if invert else ours(values) / peer(values)

    ratios = every(ratio) if peer else every(ours)
    middle = statistics.median(ratios) if ratios else None

    def meets(limit):
        return middle >= limit if invert else middle <= limit

    met = 'not measured'
    if middle is not None:
        met = 'stretch' if meets(stretch) else 'must' if meets(must) else 'NO'
    own, others = every(ours), every(peer) if peer else []
    return {
        'figure': title, 'unit': unit, 'sign': '>=' if invert else '<=', 'must': must,
        'stretch': stretch, 'met': met, 'ratio': middle, 'isRatio': peer is not None,
        'ours': statistics.median(own) if own else None,
        'peer': statistics.median(others) if others else None,
        'lowest': min(ratios, default=None), 'highest': max(ratios, default=None),
    }


def rows(rounds, counts, only):
    def get(key, scale=1.0):
        return lambda values: values[key] * scale

    result = []
    for kind in KINDS if 'poll' in only else ():
        for count in counts:
            base = f'poll/{kind}/{count}/'
            ours, name = get(base + 'perfwatch'), f'{count} threads {kind}'
            result += [
                row(f'CPU per poll / kept, {name}', rounds, ours, get(base + 'kept'),
                    2 if count <= 10 else 1.5, 1.2),
                row(f'top -H / ours, {name}', rounds, ours, get(base + 'top'), 4, 7, invert=True),
                row(f'psutil / ours, {name}', rounds, ours, get(base + 'psutil'), 2, 7, invert=True),
            ]
            share = {1: (0.15, 0.1), 100: (0.45, 0.3), 1000: (3.6, 2.5)}.get(count)
            if share and kind == 'busy':
                result.append(row(f'share of one core, {name}', rounds,
                                  get(base + 'perfwatch', 10 / 1e6 * 100), None, *share, unit='%'))
    if 'memory' in only:
        result.append(row('resident peak / static hello', rounds, get('memory/perfwatch', 2**-20),
                          get('memory/hello', 2**-20), 2, 1.3, unit='MiB'))
    if 'launch' in only:
        result.append(row('launch to main() / posix_spawn', rounds, get('launch/perfwatch'),
                          get('launch/spawn'), 1.3, 1.1))
    if 'run' in only:
        result.append(row('(run true - true) / (hello - true)', rounds,
                          lambda v: v['run/perfwatch'] - v['run/true'],
                          lambda v: v['run/hello'] - v['run/true'], 2, 1.3))
    if 'loops' in only:
        result += loop_rows(rounds, get)
    if 'symbols' in only:
        result.append(row('names of 30 frames, cold / eu-addr2line', rounds,
                          get('symbols/perfwatch'), get('symbols/eu-addr2line'), 0.333, 0.1))
    for section, make in (('capture', capture_rows), ('dumps', dump_rows), ('unwind', unwind_rows),
                          ('attribution', attribution_rows)):
        if section in only:
            result += make(rounds, get)
    return result + (agreement_rows(rounds, get) if 'agree' in only else [])


def capture_rows(rounds, get):
    """Pauses of one capture by the target's own clock."""
    result = []
    for target in ('spin20', 'spin1000', 'libraries'):
        base = f'capture/{target}/'
        ours, limit = get(base + 'ours'), get(base + 'limit')
        result += [
            row(f'pause of a capture / limit, {target}', rounds, ours, limit, 1.25, 0.85),
            row(f'its p99 / the limit\'s p99, {target}', rounds, get(base + 'ours/p99'),
                get(base + 'limit/p99'), 2, 1.3),
        ]
    base = get('capture/spin20/ours')
    return result + [
        row('pause at 1004 frames / at 24', rounds, get('capture/spin1000/ours'), base, 2, 1.5),
        row(f'pause with {mappings(rounds, "libraries")} mappings / with '
            f'{mappings(rounds, "spin20")}', rounds, get('capture/libraries/ours'), base, 1.3, 1.1),
    ]


def mappings(rounds, target):
    found = [values.get(f'capture/{target}/mappings') for values in rounds]
    return next((count for count in found if count), 'many' if target == 'libraries' else 'few')


def dump_rows(rounds, get):
    """`perfwatch dump` and its peers."""
    result = []
    for target, must, stretch in (('spin20', 2, 3), ('spin1000', 4, 5), ('libraries', 4, 5)):
        result.append(row(f'eu-stack\'s pause / ours, {target}', rounds,
                          get(f'dump/{target}/ours'), get(f'dump/{target}/eu-stack'), must, stretch,
                          invert=True))
    threads = 'dump/threads/'
    return result + [
        row('gdb\'s pause / ours, spin20', rounds, get('dump/spin20/ours'), get('dump/spin20/gdb'),
            1000, 10000, invert=True),
        row('py-spy --native\'s pause / ours', rounds, get('dump/python/ours'),
            get('dump/python/py-spy'), 200, 400, invert=True),
        row('1000 threads: main\'s pause / when all are stopped', rounds, get(threads + 'ours'),
            get(threads + 'stop-all'), 0.05, 0.02),
        row('1000 threads: eu-stack\'s wall / ours', rounds, get(threads + 'ours/wall'),
            get(threads + 'eu-stack/wall'), 20, 40, invert=True),
    ]


def unwind_rows(rounds, get):
    """Warm walks over one copy."""
    return [row(f'warm unwinding a frame / libunwind, {target}', rounds,
                get(f'unwind/{target}/ours'), get(f'unwind/{target}/libunwind'), 1.2, 0.3, unit='ns')
            for target in ('spin20', 'spin1000')]


def attribution_rows(rounds, get):
    """CPU that causes add: a stall of each kind, and a loop without stalls."""
    result = [row('causes, outside of stalls: share of a core added', rounds,
                  get('attribution/outside'), None, 0.1, 0.05, unit='%')]
    return result + [row(f'causes: CPU added a stall, {kind}', rounds, get(f'attribution/{kind}'),
                         None, 1000, 500) for kind in ('lock', 'pipe', 'child', 'unix', 'tcp')]


def agreement_rows(rounds, get):
    """How far our number is from the kernel's, in percent; see agreement.py."""
    keys = sorted({key for values in rounds for key in values if key.startswith('agree/')})
    names = {'cpu': 'CPU seconds', 'peak': 'resident peak'}
    return [row(f'{key.split("/")[1]}: {names[key.split("/")[2]]}, apart', rounds, get(key), None,
                5, 1, unit='%') for key in keys]


def loop_rows(rounds, get):
    """Shares of a core in percent for watching loops; slowdown in percent of the loop watched."""
    result = []
    for count in (1, 4, 32):
        for observer in ('proc', 'kernel'):
            for threshold in (50, 250):
                result.append(row(
                    f'{count} loops at {threshold} ms, {observer}', rounds,
                    get(f'loops/{count}/{observer}/{threshold}'), None, *LOOP_SHARES[count],
                    unit='%'))
    for kind, text in (('paced', '1000 turns/s'), ('full', 'saturated loop')):
        for observer in ('proc', 'kernel'):
            for clock in ('cpu', 'wall'):
                if kind == 'paced' and clock == 'wall':
                    continue  # its timer sets the pace
                # A loop that never rests has no switch records.
                who = f'{observer} and switch records' if (kind, observer) == ('paced', 'proc') else observer
                result.append(row(
                    f'slowdown of {text}, {clock} a turn, {who}', rounds,
                    get(f'slowdown/{kind}/{observer}/{clock}'), None, *SLOWDOWN[observer],
                    unit='%'))
    return result


def number(value, digits=3):
    if value is None:
        return '-'
    if abs(value) >= 10**digits:
        return f'{value:.0f}'
    return f'{value:.{digits}g}'


def show(table, rounds, skips):
    print(f'\n| figure ({len(rounds)} rounds, medians) | ours | peer | ratio (spread) | must | stretch | met |')
    print('| --- | --: | --: | --: | --: | --: | --- |')
    for r in table:
        spread = f'{number(r["lowest"])}..{number(r["highest"])}'
        unit, ratio = r['unit'], f'{number(r["ratio"])} ({spread})' if r['isRatio'] else f'({spread})'
        ours = f'{number(r["ours"])} {unit}' if r['ours'] is not None else '-'
        peer = f'{number(r["peer"])} {unit}' if r['peer'] is not None else '-'
        print(f'| {r["figure"]} | {ours} | {peer} | {ratio if r["ratio"] is not None else "-"} '
              f'| {r["sign"]} {r["must"]} | {r["sign"]} {r["stretch"]} | {r["met"]} |')
    print()
    for key in sorted({key for values in rounds for key in values}):
        checks = key.endswith(('/own', '/rusage'))
        if checks or key.endswith(('/lean', '/timer', '/barrier', 'hello-static', '/late', '/floor', '/none')):
            found = [values[key] for values in rounds if values.get(key) is not None]
            if found:
                print(f'  {key}: {number(statistics.median(found), 4)}')
    for who, why in skips.reasons.items():
        print(f'  skipped: {who}: {why}')
