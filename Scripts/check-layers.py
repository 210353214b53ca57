#!/usr/bin/env python3
"""The folders of Sources/ProbeCore are layers: code names only types of layers it may use.

Reads the table between the marks `<!-- layers -->` and `<!-- /layers -->` of Docs/ARCHITECTURE.md:
one row a layer, lowest first: name | what it may use | what it is | `yes` if it may import C.
ProbeCore is one module, so the compiler does not check this. What counts as a use: a type name
declared at file level, not private, in exactly one folder, and not also declared (nested, generic)
in a folder the user may see. A member called on a value of a type is not seen.
"""

import re
import sys

from swiftsource import code_only, finish, lines_matching, read, self_test, swift_files

CORE = 'Sources/ProbeCore/'
C_MODULES = r'Glibc|Musl|CProbe|CSQLite'
DECLARATION = re.compile(
    r'\b(?:struct|class|enum|protocol|typealias|actor|associatedtype)\s+`?([A-Za-z_]\w*)')
IMPORT = r'^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+(?:\w+\s+)?(\w+)'


def layer_table(document):
    """[(name, may use, may import C)] in the order of the table, and problems with the table."""
    problems, layers = [], []
    match = re.search(r'<!-- layers -->(.*?)<!-- /layers -->', document, re.S)
    if not match:
        return [], ['Docs/ARCHITECTURE.md: no layer table between its marks']
    for line in match.group(1).strip().splitlines()[2:]:
        cells = [cell.strip().strip('`') for cell in line.strip().strip('|').split('|')]
        name, uses, imports = cells[0], re.findall(r'\w+', cells[1]), cells[3] == 'yes'
        below = [layer[0] for layer in layers]
        for use in uses:
            if use not in below:
                problems.append(f'Docs/ARCHITECTURE.md: {name} may use {use}, which is not below it')
        layers.append((name, uses, imports))
    return layers, problems


def declarations(code):
    """(names declared at file level and not private, all names declared or made generic)."""
    top, every, depth = set(), set(), 0
    for line in code.split('\n'):
        for match in DECLARATION.finditer(line):
            every.add(match.group(1))
            before = line[:match.start()]
            level = depth + before.count('{') - before.count('}')
            if level == 0 and not re.search(r'\b(?:file)?private\b', before):
                top.add(match.group(1))
        depth += line.count('{') - line.count('}')
    for clause in re.findall(r'\b(?:func\s+\S+?|init[?!]?|struct\s+\w+|class\s+\w+|enum\s+\w+)\s*<([^>]*)>', code):
        every.update(re.findall(r'(?:^|,)\s*(\w+)', clause))
    return top, every


def check(sources, layers):
    """`sources`: {path: text} of all files below Sources/. Returns the problems."""
    problems, table = [], {name: (uses, imports) for name, uses, imports in layers}
    top, every, codes = {}, {}, {}
    for path, text in sources.items():
        codes[path] = code_only(text)
        parts = path[len(CORE):].split('/') if path.startswith(CORE) else []
        folder = parts[0] if len(parts) > 1 else None
        if path.startswith(CORE) and folder not in table:
            problems.append(f'{path}: not in a folder of the layer table')
        if folder:
            names = declarations(codes[path])
            top.setdefault(folder, set()).update(names[0])
            every.setdefault(folder, set()).update(names[1])
        for number, match in lines_matching(codes[path], IMPORT):
            if re.fullmatch(C_MODULES, match.group(1)) and not (folder in table and table[folder][1]):
                problems.append(f'{path}:{number}: imports {match.group(1)}; only Linux/ may')
    owner = {}
    for folder, names in top.items():
        for name in names:
            owner.setdefault(name, []).append(folder)
    for path, code in codes.items():
        folder = path[len(CORE):].split('/')[0] if path.startswith(CORE) else None
        if folder not in table:
            continue
        allowed = {folder, *table[folder][0]}
        known = set().union(*(every.get(name, set()) for name in allowed))
        for number, match in lines_matching(code, r'(?:(\bProbeCore)?(\.)|(?<![\w.]))`?\b([A-Z]\w*)'):
            qualifier, dot, name = match.groups()
            if dot and not qualifier:
                continue  # a member or a nested type of something else
            owners = owner.get(name, [])
            if len(owners) == 1 and owners[0] not in allowed and name not in known:
                problems.append(f'{path}:{number}: {folder} uses {name}, which is in {owners[0]}')
    return problems


def test():
    layers, bad = layer_table(
        '<!-- layers -->\n| a | b | c | d |\n| - | - | - | - |\n| `Model` | - | x | no |\n'
        '| `Linux` | Model | x | yes |\n| `Report` | Model, Session | x | no |\n<!-- /layers -->')
    shared = {
        CORE + 'Model/Tick.swift': 'public struct Tick { enum Kind {} }',
        CORE + 'Linux/File.swift': 'internal import Glibc\nstruct FileHandle { var tick: Tick }\nstruct Kind {}',
    }

    def found(path, text):
        return check({**shared, path: text}, layers)

    report, model = CORE + 'Report/Text.swift', CORE + 'Model/A.swift'
    self_test('check-layers', [
        ('a table that points upwards', bad, ['Report may use Session']),
        ('a clean tree', check(shared, layers), []),
        ('a use upwards', found(model, 'let a: Tick\nfunc f(_ x: [FileHandle]) {}'), ['A.swift:2: Model uses FileHandle']),
        ('an extension upwards', found(report, 'extension FileHandle {}'), ['Report uses FileHandle']),
        ('through the module name', found(report, 'let a = ProbeCore.FileHandle.self'), ['FileHandle']),
        ('inside an interpolation', found(report, 'let a = "\\(FileHandle.self) //"'), ['FileHandle']),
        ('comments and strings', found(report, '// FileHandle\n/* FileHandle /* */ FileHandle */\nlet a = "FileHandle"\nlet b = #"\\(FileHandle)"#'), []),
        ('a nested type of the same name', found(report, 'let a: Kind = .FileHandle'), []),
        ('a private type is nobody else\'s', found(CORE + 'Linux/B.swift', 'private struct Own {}') + found(report, 'struct Own {}\nlet a: Own'), []),
        ('C outside the fence', found(report, 'internal import Glibc\n@testable import CProbe'), [':1: imports Glibc', ':2: imports CProbe']),
        ('C in the executable', found('Sources/perfwatch/main.swift', 'import Glibc'), ['imports Glibc']),
        ('a file without a layer', found(CORE + 'Loose.swift', 'let a = 1'), ['not in a folder']),
    ])


if __name__ == '__main__':
    if '--self-test' in sys.argv:
        test()
    found_layers, table_problems = layer_table(read('Docs/ARCHITECTURE.md'))
    finish('check-layers', table_problems + check(
        {path: read(path) for path in swift_files('Sources')}, found_layers))
