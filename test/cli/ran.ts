import { relative } from 'node:path'
import type { Test } from 'tap'
import { packageRoot } from '../../src/lib/package-root.ts'
import { ELSEWHERE } from './leaves/elsewhere.ts'

/* Which commands a file has run, and how they ended: whoever starts one notes it here, and nothing is taken on trust. */

type Line = { words: readonly string[]; code: number | null }

const lines: Line[] = []

/** A command line that has ended, without the `svc` before it. */
export function noteRan(words: readonly string[], code: number | null): void {
  lines.push({ words, code })
}

/** A new test file begins in this process: what others ran proves nothing for it. */
export function forgetRan(): void {
  lines.length = 0
}

/**
 * The last test of a file that the table of commands (leaves/elsewhere.ts) leaves some to: each of them was done here, also
 * as JSON, and refused.
 */
export function provesLeaves(t: Test, filename: string): void {
  void t.test('what the table of commands leaves to this file has been run here', async (t) => {
    const file = relative(packageRoot(), filename)
    const mine = Object.entries(ELSEWHERE).filter(([, row]) => row.elsewhere === file)
    t.not(mine.length, 0, 'some are left to it')
    for (const [path, { json, refused }] of mine) {
      const own = lines.filter(({ words }) => isOf(path, words))
      const told = own.map(({ words, code }) => `${String(code)}: ${words.join(' ')}`).join('\n')
      const done = own.filter(({ words, code }) => code === 0 && !words.includes('--dry-run'))
      t.ok(done.length > 0, `${path} is done; ran were:\n${told}`)
      if (json === true) t.ok(done.some(isJson), `${path} is done as JSON; ran were:\n${told}`)
      if (typeof refused === 'number')
        t.ok(
          own.some(({ code }) => code === refused),
          `${path} ends with ${refused}; ran were:\n${told}`,
        )
    }
  })
}

function isOf(path: string, words: readonly string[]): boolean {
  return words.slice(0, path.split(' ').length).join(' ') === path
}

function isJson({ words }: Line): boolean {
  return words.includes('--json') || words.some((word, index) => word.startsWith('json') && words[index - 1] === '-o')
}
