import { spawnSync } from 'node:child_process'
import { globSync, readFileSync, utimesSync } from 'node:fs'
import { join, relative } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { packageRoot } from '../src/lib/package-root.ts'
import { PARTS, buildIfOld, envWithoutTap } from './support/built.ts'
import { forgottenFiles, markEnded, offerFiles, takeFile } from './support/queue.ts'

/** A test file of its own that is run as the suite runs them. */
function run(t: Test, body: string): { status: number | null; stdout: string } {
  const folder = t.testdir({ 'one.mjs': body })
  const preload = join(import.meta.dirname, 'support', 'preload.js')
  const words = ['--import', preload, join(folder, 'one.mjs')]
  const { status, stdout } = spawnSync('env', ['-u', 'NODE_OPTIONS', process.execPath, ...words], {
    encoding: 'utf8',
    cwd: packageRoot(),
    env: envWithoutTap(),
  })
  return { status, stdout }
}

for (const [what, statement] of [
  ['thrown in a callback', "setTimeout(() => { throw new Error('nothing caught this') })"],
  ['in a promise that nothing awaits', "void Promise.reject(new Error('nothing caught this'))"],
]) {
  t.test(`an error ${what} fails the run and shows where it was thrown; the other tests continue`, async (t) => {
    const { status, stdout } = run(
      t,
      `import t from 'tap'
       t.test('first', async (t) => { await t.test('inner', () => new Promise((resolve) => { ${statement}; setTimeout(resolve, 50) })) })
       t.test('second', async (t) => t.pass())`,
    )
    t.not(status, 0)
    t.match(stdout, /^not ok 3 - nothing caught this\n {2}---\n {2}stack: \|\n.*one\.mjs:2:\d+/m)
    t.match(stdout, /^ok 2 - second/m)
  })
}

t.test('each file of a run is taken once, and one that has not ended is named', async (t) => {
  const folder = t.testdir({})
  offerFiles(folder, ['a.test.ts', 'b.test.ts', 'c.test.ts'])
  t.same(
    [0, 1, 0, 1, 2].map((index) => takeFile(folder, index)),
    [true, true, false, false, true],
  )
  for (const index of [0, 2]) markEnded(folder, index)
  t.same(forgottenFiles(folder), ['b.test.ts'])
})

t.test('a part is built once after a change, also where the change leaves its output as it was', async (t) => {
  const folder = relative(packageRoot(), t.testdir({ 'source.md': 'text', output: 'built', builds: '' }))
  const source = join(folder, 'source.md')
  const output = join(folder, 'output')
  const builds = join(folder, 'builds')
  const part = { sources: [source], output, command: ['sh', '-c', `echo built >> ${builds}`] }
  const at = (file: string, secondsAgo: number): void => {
    const time = new Date(Date.now() - secondsAgo * 1_000)
    utimesSync(join(packageRoot(), file), time, time)
  }
  at(output, 3_600)
  at(source, 60)
  t.same([buildIfOld(part), buildIfOld(part)], [true, false])
  t.equal(readFileSync(join(packageRoot(), builds), 'utf8'), 'built\n')
})

t.test('the documentation is a source of the files for browsers', async (t) => {
  const sources = new Set(globSync(PARTS.widget.sources, { cwd: packageRoot() }))
  const files = globSync(['docs/*.md', 'docs/{merchants,operators,reference}/*.md', 'docs/images/*'], {
    cwd: packageRoot(),
  })
  for (const file of [...files, 'README.md', 'CHANGELOG.md', 'DECISIONS.md', 'SECURITY.md'])
    t.ok(sources.has(file), file)
})
