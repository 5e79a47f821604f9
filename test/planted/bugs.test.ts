import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { packageRoot } from '../../src/lib/package-root.ts'
import { PLANTED_BUGS } from './bugs.ts'

/* `npm run planted` plants them; here only that each still can be planted, so that a change of the code moves its bug too. */
const read = (file: string): string => readFileSync(join(packageRoot(), file), 'utf8')

t.test('each planted bug still fits the code, and its test is there', async (t) => {
  t.ok(PLANTED_BUGS.length >= 30, `${PLANTED_BUGS.length} bugs`)
  t.equal(new Set(PLANTED_BUGS.map(({ name }) => name)).size, PLANTED_BUGS.length, 'each has a name of its own')
  for (const { name, test, edits } of PLANTED_BUGS) {
    t.ok(existsSync(join(packageRoot(), test)), `${name}: ${test}`)
    for (const { file, text, replacement } of edits) {
      t.equal(read(file).split(text).length - 1, 1, `${name}: its text is once in ${file}`)
      t.not(text, replacement)
    }
  }
})

t.test('the table of planted bugs is that of the documents', async (t) => {
  const page = read('docs/operators/proof.md')
  for (const { name, test } of PLANTED_BUGS) t.match(page, `| ${name} | \`${test}\` |`)
  const tests = [...page.matchAll(/\| `(test\/[^`]+)` \|/g)].map(([, test = '']) => test)
  t.ok(tests.length > PLANTED_BUGS.length, 'and of threats')
  for (const test of tests) t.ok(existsSync(join(packageRoot(), test)), test)
})
