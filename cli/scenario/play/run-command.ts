import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'

/** How a command ended: `exit` is undefined where it was ended, or never began, and `why` then says the reason. */
export type CommandEnd = { exit: number | undefined; why: string | undefined; stdout: string; stderr: string }

type CommandOptions = {
  /** Words, or one line for the shell. */
  run: string | readonly string[]
  env: NodeJS.ProcessEnv
  cwd: string
  withinMs: number
  signal: AbortSignal
}

type Child = ChildProcessByStdio<null, Readable, Readable>

/** Of each stream its last part is kept: failures are at the end. */
const KEPT_CHARACTERS = 1024 * 1024
/** How long a command has to end by itself once it is asked to. */
const FAREWELL_MS = 1_000
/** What a command has started may hold its output open after it. */
const DRAIN_MS = 500

/** Runs a command in a group of its own, which is ended as a whole when its time is over or `signal` says so. */
export async function runCommand(options: CommandOptions): Promise<CommandEnd> {
  const { run, env, cwd, withinMs, signal } = options
  const [file = '', ...words] = typeof run === 'string' ? [run] : run
  const child = spawn(file, words, {
    env,
    cwd,
    shell: typeof run === 'string',
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: keepTail(child.stdout), stderr: keepTail(child.stderr) }
  const timeout = AbortSignal.timeout(withinMs)
  const stop = (): void => void endGroup(child)
  const over = AbortSignal.any([signal, timeout])
  if (over.aborted) stop()
  over.addEventListener('abort', stop, { once: true })
  const killNow = (): void => signalGroup(child, 'SIGKILL')
  process.once('exit', killNow)
  try {
    const ended = await endOf(child)
    const why = over.aborted ? (signal.aborted ? 'the case was over' : 'its time was over') : ended.why
    return { exit: why === undefined ? ended.exit : undefined, why, stdout: output.stdout(), stderr: output.stderr() }
  } finally {
    over.removeEventListener('abort', stop)
    process.off('exit', killNow)
    child.stdout.destroy()
    child.stderr.destroy()
  }
}

function keepTail(stream: Readable): () => string {
  let text = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => void (text = (text + chunk).slice(-KEPT_CHARACTERS)))
  stream.on('error', () => undefined)
  return () => text
}

/** Waits for the command's end and for what it wrote, but not for what it left running. */
async function endOf(child: Child): Promise<{ exit: number | undefined; why: string | undefined }> {
  const { promise: closed, resolve: close } = Promise.withResolvers<void>()
  child.once('close', () => close())
  const { promise, resolve } = Promise.withResolvers<{ exit: number | undefined; why: string | undefined }>()
  child.once('error', (error) => resolve({ exit: undefined, why: `it could not be started: ${error.message}` }))
  child.once('exit', (code, killed) =>
    resolve({ exit: code ?? undefined, why: killed === null ? undefined : `a signal ended it: ${killed}` }),
  )
  const ended = await promise
  if (child.pid !== undefined) await Promise.race([closed, delay(DRAIN_MS, undefined, { ref: false })])
  return ended
}

async function endGroup(child: Child): Promise<void> {
  signalGroup(child, 'SIGTERM')
  await delay(FAREWELL_MS, undefined, { ref: false })
  signalGroup(child, 'SIGKILL')
}

function signalGroup({ pid }: Child, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // All of it has ended already.
  }
}
