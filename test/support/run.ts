import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../src/lib/package-root.ts'

/*
 * The whole suite, as npm test runs it: most files several to a process (batch.ts says why), then a few long ones, each
 * alone. What tap is given beside is passed on.
 */
const FILES_IN_A_BATCH = 24
/** A batch may take as long as its files one after another on a slow machine. */
const TIMEOUT_S = 600

/** The files that take longest, because they start services of their own, or browsers, or wait; the longest first. */
const ALONE = [
  'test/docs-snippets.test.ts',
  'test/cli/parts.test.ts',
  'test/cli/up.test.ts',
  'test/cli/console/disputes-webhooks.test.ts',
  'test/cli/operators.test.ts',
  'test/db/embedded.test.ts',
  'test/widget/screens-flow.test.ts',
  'test/cli/sandbox-run.test.ts',
  'test/widget/accessibility.test.ts',
  'test/widget/screens-paths.test.ts',
  'test/scenario/tokens.test.ts',
  'test/payments/invariants.test.ts',
  'test/checks.test.ts',
  'test/cli/listen.test.ts',
  'test/cli/identity.test.ts',
  'test/payments/refunds/races.test.ts',
  'test/cli/keys-up.test.ts',
  'test/scenario/play.test.ts',
  'test/identity/contract/cli-flows.test.ts',
]

function batches(files: readonly string[]): string[][] {
  const count = Math.ceil(files.length / FILES_IN_A_BATCH)
  const size = Math.ceil(files.length / count)
  return Array.from({ length: count }, (_, index) => files.slice(index * size, (index + 1) * size))
}

/** Writes a batch as a file that tap runs: in the order of their names, which tell the first folder too. */
function writeBatch(folder: string, files: readonly string[], index: number): string {
  const area = files[0]?.split('/').slice(1, -1).join('-') ?? ''
  const name = join(folder, `${String(index + 1).padStart(2, '0')}-${area === '' ? 'all' : area}.test.ts`)
  const runner = JSON.stringify(join(import.meta.dirname, 'batch.ts'))
  writeFileSync(name, `import { runBatch } from ${runner}\n\nawait runBatch(${JSON.stringify(files, undefined, 2)})\n`)
  return name
}

function main(more: readonly string[]): number {
  const root = packageRoot()
  const all = globSync('test/**/*.test.ts', { cwd: root }).toSorted()
  const gone = ALONE.filter((file) => !all.includes(file))
  if (gone.length > 0) throw new Error(`there is no ${gone.join(', ')}`)
  const alone = ALONE.map((file) => [file])
  const folder = join(root, '.tap', 'batches')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const rest = all.filter((file) => !ALONE.includes(file))
  // A batch takes longer than any file: at the end it would run alone. The last folders have the longest batches.
  const made = [...batches(rest).toReversed(), ...alone].map((files, index) => writeBatch(folder, files, index))
  const words = [...more, `--timeout=${TIMEOUT_S}`, ...made]
  const { status } = spawnSync('tap', words, { cwd: root, stdio: 'inherit' })
  return status ?? 1
}

process.exitCode = main(process.argv.slice(2))
