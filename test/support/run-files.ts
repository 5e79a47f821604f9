import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../src/lib/package-root.ts'
import { forgottenFiles, offerFiles } from './queue.ts'

/** All files of a process on a slow machine. One file has a time of its own (take-files.ts). */
const TIMEOUT_S = 3_600

/** `name` is that of the run: two with the same one can't run at once. `more` is passed to tap. */
export type Run = { name: string; processes: number; more?: readonly string[]; env?: NodeJS.ProcessEnv }

/** Runs test files by tap, in processes that take one after another. The exit code is 0 if all have ended and passed. */
export async function runFiles(files: readonly string[], { name, processes, more = [], env }: Run): Promise<number> {
  const root = packageRoot()
  const folder = join(root, '.tap', name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  offerFiles(folder, files)
  const made = Array.from({ length: processes }, (_, index) => writeProcess(folder, index + 1))
  const words = [...more, `--jobs=${processes}`, `--timeout=${TIMEOUT_S}`, ...made]
  const [code] = await once(
    spawn('tap', words, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } }),
    'exit',
  )
  const forgotten = forgottenFiles(folder)
  for (const file of forgotten) process.stdout.write(`not ok - ${file} has not ended\n`)
  return typeof code === 'number' && forgotten.length === 0 ? code : 1
}

/** Writes what tap runs as one test file: a process that takes files. */
function writeProcess(folder: string, number: number): string {
  const name = join(folder, `process-${number}.test.ts`)
  const taking = JSON.stringify(join(import.meta.dirname, 'take-files.ts'))
  writeFileSync(name, `import { takeFiles } from ${taking}\n\nawait takeFiles(import.meta.dirname)\n`)
  return name
}
