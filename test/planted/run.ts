import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { packageRoot } from '../../src/lib/package-root.ts'
import { PLANTED_BUGS } from './bugs.ts'
import type { PlantedBug } from './bugs.ts'

/*
 * Plants each bug of bugs.ts alone, in a copy of the checkout, and runs the test file that must fail with it. First each of
 * these files must pass as it is: one that always fails would catch everything.
 */
const ROOT = packageRoot()
const TEST_MS = 300_000

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, 'skip-clean': { type: 'boolean', default: false } },
})
const bugs = PLANTED_BUGS.filter(({ name, test }) => new RegExp(values.only).test(`${name} ${test}`))

const folder = mkdtempSync(join(tmpdir(), 'svc-planted-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
copyCheckout()

let missed = 0
if (!values['skip-clean'])
  for (const test of new Set(bugs.map((bug) => bug.test))) {
    if (await passes(test)) continue
    missed += 1
    process.stdout.write(`FAILS WITHOUT A BUG  ${test}\n`)
  }
for (const bug of bugs) {
  const begun = performance.now()
  const isCaught = await withBug(bug, async () => !(await passes(bug.test)))
  if (!isCaught) missed += 1
  const seconds = Math.round((performance.now() - begun) / 1_000)
  process.stdout.write(
    `${isCaught ? 'caught' : 'MISSED'}  ${String(seconds).padStart(3)} s  ${bug.name}  (${bug.test})\n`,
  )
}
process.stdout.write(`${bugs.length} planted, ${missed} missed\n`)
process.exitCode = missed === 0 ? 0 : 1

/** What git knows of, and what is built; packages are shared. */
function copyCheckout(): void {
  const known = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 })
  for (const file of known.split('\0')) {
    if (file === '' || !existsSync(join(ROOT, file))) continue
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(ROOT, file), join(folder, file), { preserveTimestamps: true })
  }
  cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true, preserveTimestamps: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
}

async function withBug<T>({ edits }: PlantedBug, work: () => Promise<T>): Promise<T> {
  const before = new Map<string, string>()
  for (const { file, text, replacement } of edits) {
    const path = join(folder, file)
    const is = readFileSync(path, 'utf8')
    if (!before.has(path)) before.set(path, is)
    if (is.split(text).length !== 2) throw new Error(`not once in ${file}: ${text}`)
    writeFileSync(
      path,
      is.replace(text, () => replacement),
    )
  }
  try {
    return await work()
  } finally {
    for (const [path, text] of before) writeFileSync(path, text)
  }
}

/** Whether a test file passes; one that hangs does not. */
async function passes(test: string): Promise<boolean> {
  const child = spawn('npx', ['tap', '--bail', test], { cwd: folder, stdio: 'ignore', detached: true })
  const timer = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'), TEST_MS)
  const [code] = await once(child, 'exit')
  clearTimeout(timer)
  return code === 0
}
