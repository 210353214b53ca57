#!/usr/bin/env python3
"""Links of the Markdown pages: the file is there, and the heading of a `#fragment` too.

Only links inside the repository; nothing is looked up on the network.
"""

import glob
import os
import re
import sys
import urllib.parse

from swiftsource import ROOT, finish, read, self_test


def prose(text):
    """The page without its code blocks and code spans."""
    text = re.sub(r'^```.*?^```', '', text, flags=re.S | re.M)
    return re.sub(r'`[^`\n]*`', '', text)


def anchors(text):
    """Headings as GitHub names them."""
    text, names = re.sub(r'^```.*?^```', '', text, flags=re.S | re.M), set()
    for heading in re.findall(r'^#+ +(.+?) *#*$', text, re.M):
        heading = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', heading).lower()
        name = re.sub(r'[^\w\- ]', '', heading).replace(' ', '-')
        count, unique = 0, name
        while unique in names:
            count += 1
            unique = f'{name}-{count}'
        names.add(unique)
    return names


def check(pages, exists):
    """`pages`: {path: text}; `exists(path)` tells of any file of the repository."""
    problems = []
    for path, text in pages.items():
        targets = re.findall(r'\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)', prose(text))
        targets += re.findall(r'^\[[^\]]+\]: +(\S+)', prose(text), re.M)
        for target in targets:
            if re.match(r'[a-z][a-z+.-]*:', target):
                continue
            file, _, fragment = urllib.parse.unquote(target).partition('#')
            full = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
            if full.startswith('..') or os.path.isabs(full):
                problems.append(f'{path}: link leaves the repository: {target}')
            elif not exists(full):
                problems.append(f'{path}: no such file: {target}')
            elif fragment and full in pages and fragment not in anchors(pages[full]):
                problems.append(f'{path}: no such heading: {target}')
    return problems


def test():
    pages = {'A.md': '# A b, `c`!\n', 'Docs/B.md': ''}

    def found(text):
        return check({**pages, 'Docs/B.md': text}, lambda path: path in pages)

    self_test('check-links', [
        ('good ones', found('# Me\n[a](../A.md) [b](../A.md#a-b-c) [c](#me) [d](https://x.org/y)'), []),
        ('in code', found('`[a](gone.md)`\n```\n[a](gone.md)\n```\n'), []),
        ('a file that is not there', found('[a](A.md)\n\n[r]: gone.md'), ['no such file: A.md', 'gone.md']),
        ('a heading that is not there', found('[a](../A.md#b) [b](#me)'), ['heading: ../A.md#b', 'heading: #me']),
        ('out of the tree', found('[a](../../x)'), ['leaves']),
    ])


if __name__ == '__main__':
    if '--self-test' in sys.argv:
        test()
    os.chdir(ROOT)
    files = glob.glob('*.md') + glob.glob('Docs/**/*.md', recursive=True) + glob.glob('Tests/**/*.md', recursive=True)
    finish('check-links', check({file: read(file) for file in sorted(files)}, os.path.exists))
