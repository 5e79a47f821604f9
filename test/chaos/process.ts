import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { packageRoot } from '../../src/lib/package-root.ts'

/** A part of the service in a process of its own, as users run it, which is started again whenever it ends. */
export type Part = {
  name: string
  kill(): void
  pauseFor(ms: number): Promise<void>
  /** Asks it to end, and starts it with these settings besides. */
  restart(env?: Record<string, string>): Promise<void>
  stop(): Promise<void>
  /** What it said last, each time that it ended without being asked to. */
  ownEnds(): readonly string[]
}

/** As much of its messages as tells why it ended. */
const LAST_WORDS = 300
const LAUNCHER = join(packageRoot(), 'bin', 'svc.js')
const MODEL_BANK = join(packageRoot(), 'dist', 'src', 'model-bank', 'main.js')

type PartOptions = {
  /** Words of svc, or what the model bank is started with. */
  words: readonly string[]
  program?: 'svc' | 'model bank'
  env: Record<string, string>
  isReady?: () => Promise<boolean>
}

export function startPart(
  name: string,
  { words, program = 'svc', env, isReady = async () => true }: PartOptions,
): Part {
  const file = program === 'svc' ? LAUNCHER : MODEL_BANK
  let settings = env
  let isOver = false
  let meant = false
  const ownEnds: string[] = []
  let child: ChildProcess
  const begin = (): void => {
    child = spawn(process.execPath, [file, ...words], {
      env: { PATH: process.env['PATH'], ...settings },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const ended = child
    let said = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (process.env['CHAOS_LOG'] !== undefined) process.stderr.write(text)
      said = (said + text).slice(-LAST_WORDS)
    })
    child.once('exit', (code, killedBy) => {
      // Its last words may come after its end.
      if (!meant) ended.once('close', () => ownEnds.push(`${String(code ?? killedBy)}: ${said.trim()}`))
      meant = false
      // As a supervisor does: at once, and after a moment where it could not start.
      if (!isOver) setTimeout(() => !isOver && begin(), 300)
    })
  }
  begin()
  return {
    name,
    kill: () => {
      // One that has ended by itself and is about to begin again has not been killed.
      if (!isAlive(child)) return
      meant = true
      child.kill('SIGKILL')
    },
    pauseFor: async (ms) => {
      const paused = child
      paused.kill('SIGSTOP')
      await new Promise((resolve) => setTimeout(resolve, ms))
      paused.kill('SIGCONT')
    },
    restart: async (more = {}) => {
      settings = { ...settings, ...more }
      if (!isAlive(child)) return
      meant = true
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
      // A rolling restart goes on when this one works again.
      for (let looks = 0; looks < 100 && !(await isReady()); looks += 1) await delay(200)
    },
    stop: async () => {
      isOver = true
      if (!isAlive(child)) return
      meant = true
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
    ownEnds: () => ownEnds,
  }
}

function isAlive(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null
}
