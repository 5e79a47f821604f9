import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { packageRoot } from '../src/lib/package-root.ts'
import {
  CONTRACT,
  DECISIONS,
  anchorsOf,
  brokenReferences,
  decisionNumbers,
  headingsOf,
  indexProblems,
  missingPaths,
  repeatedHeadings,
} from './support/references.ts'
import type { Problem, Targets, TextFile } from './support/references.ts'

const ROOT = packageRoot()
/** They hold references that lead nowhere on purpose. */
const EXAMPLES_OF_BROKEN_ONES = new Set(['test/references.test.ts', 'test/support/references.ts'])

function trackedFiles(): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
  return listed.toString('utf8').split('\n').filter(Boolean)
}

function readTracked(path: string): TextFile[] {
  try {
    const text = readFileSync(join(ROOT, path), 'utf8')
    return text.includes('\u0000') ? [] : [{ path, text }]
  } catch {
    // Deleted, and the deletion is not committed yet.
    return []
  }
}

function withFolders(paths: readonly string[]): Set<string> {
  return new Set(paths.flatMap((path) => path.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'))))
}

const tracked = trackedFiles()
const files = tracked.filter((path) => !EXAMPLES_OF_BROKEN_ONES.has(path)).flatMap(readTracked)
const textOf = (path: string) => files.find((file) => file.path === path)?.text ?? ''
const targets: Targets = {
  decisions: decisionNumbers(textOf(DECISIONS)),
  headings: new Set(headingsOf(textOf(CONTRACT)).map(({ text }) => text)),
  anchors: new Map(files.filter(({ path }) => path.endsWith('.md')).map(({ path, text }) => [path, anchorsOf(text)])),
  paths: withFolders(tracked),
}

function listed(problems: readonly Problem[]): string {
  return problems.map(({ file, line, message }) => `${file}:${line}: ${message}`).join('\n')
}

t.test('every reference to a decision, a rule or a document leads somewhere', async (t) => {
  t.ok(targets.decisions.size > 200, 'the decisions were read')
  t.ok(targets.headings.size > 50, 'the headings of the contract were read')
  t.equal(listed(files.flatMap((file) => brokenReferences(file, targets))), '')
})

t.test('the index of decisions and its entries agree', async (t) => {
  t.equal(listed(indexProblems(textOf(DECISIONS))), '')
})

t.test('no heading of the contract is there twice', async (t) => {
  t.equal(listed(repeatedHeadings(textOf(CONTRACT))), '')
})

t.test('files that the documents for contributors name exist', async (t) => {
  const named = [DECISIONS, 'CONTRIBUTING.md', 'SECURITY.md', CONTRACT]
  const documents = files.filter(({ path }) => named.includes(path))
  t.equal(listed(documents.flatMap((file) => missingPaths(file, targets.paths))), '')
})

t.test('the table of folders for contributors has folders that exist, and every one at the root', async (t) => {
  const [, section = ''] = /^## Where things live$([^]*?)^Imports go one way/m.exec(textOf('CONTRIBUTING.md')) ?? []
  const folders = [...section.matchAll(/^\| (`[^|]+`) \|/gm)]
    .flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, folder = '']) => folder))
    .filter((folder) => !folder.includes('<'))
  t.same(
    folders.filter((folder) => !targets.paths.has(folder)),
    [],
  )
  const atRoot = tracked.flatMap((path) => /^([^./][^/]*)\//.exec(path)?.[1] ?? [])
  t.same(
    [...new Set(atRoot)].filter((folder) => !folders.some((each) => each.split('/')[0] === folder)),
    [],
  )
})

t.test('a broken reference is found, with its line', async (t) => {
  const known: Targets = {
    decisions: new Set([1, 2, 3, 4]),
    headings: new Set(['Limits', 'Payment status', 'Payment']),
    anchors: new Map([['docs/a.md', new Set(['one'])]]),
    paths: new Set(['docs', 'docs/a.md', 'src']),
  }
  const found = (text: string, path = 'src/x.ts') => listed(brokenReferences({ path, text }, known))

  t.equal(found('/** As agreed (decisions 1 to 3 and 4; contract §Payment status). */'), '')
  t.match(found('// line\n// (decision 5)'), /^src\/x\.ts:2: decision 5 is not/)
  t.match(found('/**\n * Of two lines (decisions 2,\n * 3 and 9).\n */'), /^src\/x\.ts:2: decision 9/)
  t.match(found('-- (decisions 3 to 6)', 'migrations/x.sql'), /decision 5 .*\n.*decision 6/)
  t.equal(found('/**\n * (contract §Payment\n * status; decision 1)\n */'), '')
  t.equal(found('(contract §Limits 3)'), '')
  t.match(found('(contract §Limitless)'), /begins with no heading/)
  t.match(found('(contract §Refunds)'), /begins with no heading/)
  t.match(found('// (specification, Limits)'), /cite the rule/)
  t.match(found('a\n[b](a.md#two)', 'docs/b.md'), /^docs\/b\.md:2: docs\/a\.md has no heading for #two/)
  t.match(found('[b](../c.md)', 'docs/b.md'), /leads to no file/)
  t.equal(found('[b](a.md#one) [c](https://example.org/x#y) `[d](e.md)`', 'docs/b.md'), '')
})

t.test('an index that disagrees with its entries is found', async (t) => {
  const row = (number: number, title: string, note = '') => `| ${number} | [${title}](#x)${note && `, ${note}`} |`
  const found = (...lines: string[]) => listed(indexProblems(lines.join('\n')))

  t.equal(found(row(1, 'A'), row(2, 'B', 'superseded by 1'), '### 1. A', '', '### 2. B', '*Superseded by 1.*'), '')
  t.equal(found('| 1 | [A](#x), superseded by 2 | 2 | [B](#x) |', '### 1. A', '*Superseded by 2.*', '### 2. B'), '')
  t.match(found('| 1 | [A](#x) | 2 | [C](#x) |', '### 1. A', '### 2. B'), /the index calls decision 2 "C"/)
  t.match(found(row(1, 'A'), '### 1. A', '### 2. B'), /decision 2 has no row/)
  t.match(found(row(1, 'A'), row(2, 'B'), '### 1. A'), /decision 2 is in the index and has no entry/)
  t.match(found(row(1, 'A'), '### 1. A', '### 1. A'), /decision 1 is there twice/)
  t.match(found(row(1, 'A'), '### 1. B'), /the index calls decision 1 "A", its entry "B"/)
  t.match(
    found(row(1, 'A', 'superseded by 9'), '### 1. A', '*Superseded by 9.*'),
    /superseded by 9, which has no entry/,
  )
  t.match(found(row(1, 'A'), '### 1. A', '*Superseded by 1.*'), /disagree on whether/)
  t.equal(found(row(1, 'A', 'superseded in part by 1'), '### 1. A', '*Superseded in part by 1: it is so.*'), '')
  t.match(found(row(1, 'A', 'superseded by 1'), '### 1. A', '*Superseded in part by 1.*'), /disagree on whether/)
  for (const line of ['Superseded by decision 1.', '*Superseded by 1.* And more.', 'B is superseded by 1.'])
    t.match(found(row(1, 'A'), '### 1. A', line), /:3: the first line of an entry/)
  t.match(found(row(1, 'A', 'superseded by 1'), '### 1. A', '', '*Superseded by 1.*'), /:4: the first line of an entry/)
  t.match(found(row(2, 'B'), row(1, 'A'), '### 1. A', '### 2. B'), /:2: decision 1 comes before 2/)
  t.match(found(row(1, 'A'), row(2, 'B'), '### 2. B', '### 1. A'), /:4: decision 1 comes before 2/)
  t.equal(
    found('| | **[X](#x)** |', row(2, 'B'), '| | **[Y](#y)** |', row(1, 'A'), '## X', '### 2. B', '## Y', '### 1. A'),
    '',
  )
  t.match(found('| | **[X](#x)** |', row(1, 'A'), '## Y', '### 1. A'), /below X, its entry is below Y/)
  t.match(listed(repeatedHeadings('# A\n## B\n## B\n')), /:3: the heading "B"/)
  t.match(listed(missingPaths({ path: 'A.md', text: '`src/no.ts` `src/x.ts`' }, new Set(['src/x.ts']))), /src\/no\.ts/)
})
