import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** A measured process. It sends `ready` once it works, reports its processor time, and exits on disconnect. */
export type Child = {
  pid: number | undefined
  /** The contents of its `ready` message, such as its port. */
  ready: Readonly<Record<string, unknown>>
  /** Microseconds of processor time so far. */
  cpuUs(): Promise<number>
  /** Waits for a message of that name. */
  next(name: string): Promise<Readonly<Record<string, unknown>>>
  /** Sends a message and waits for the response with the name `answer`. */
  ask(message: Readonly<Record<string, unknown>>, answer: string): Promise<Readonly<Record<string, unknown>>>
  stop(): Promise<void>
}

const READY_MS = 30_000
const HEAP_REPORT = new URL('../processes/heap-report.js', import.meta.url).href

/**
 * Starts one of the programs of this folder, with `settings` as JSON in BENCH_SETTINGS.
 * @param profileDir a folder for its processor profile, which it writes when it ends
 * @param heapFile where it reports its heap after garbage collection (heap-report.js)
 */
export async function startChild(
  program: string,
  settings: Readonly<Record<string, unknown>>,
  { profileDir, heapFile }: { profileDir?: string | undefined; heapFile?: string } = {},
): Promise<Child> {
  const child = fork(new URL(`../${program}`, import.meta.url), {
    execArgv: [
      ...(profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDir}`]),
      ...(heapFile === undefined ? [] : ['--expose-gc', `--import=${HEAP_REPORT}`]),
    ],
    env: {
      ...process.env,
      ...(heapFile === undefined ? {} : { BENCH_HEAP_FILE: heapFile }),
      NODE_ENV: 'production',
      BENCH_SETTINGS: JSON.stringify(settings),
    },
    // Its request log is written, as in production, but discarded.
    stdio: ['ignore', 'ignore', process.env['BENCH_DEBUG'] === undefined ? 'ignore' : 'inherit', 'ipc'],
  })
  const ready = await answerOf(child, program, 'ready')
  const ask = (message: Readonly<Record<string, unknown>>, answer: string) => {
    const answered = answerOf(child, program, answer)
    child.send(message)
    return answered
  }
  return {
    pid: child.pid,
    ready,
    ask,
    next: (name) => answerOf(child, program, name),
    cpuUs: async () => Number((await ask({ name: 'cpu' }, 'cpu'))['us']),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      child.disconnect()
      await exited
    },
  }
}

async function answerOf(
  child: ChildProcess,
  program: string,
  name: string,
): Promise<Readonly<Record<string, unknown>>> {
  const { promise, resolve, reject } = Promise.withResolvers<Readonly<Record<string, unknown>>>()
  const onMessage = (message: unknown) => {
    if (typeof message === 'object' && message !== null && 'name' in message && message.name === name)
      resolve({ ...message })
  }
  const onExit = (code: number | null) =>
    reject(new Error(`${program} ended with ${code}; BENCH_DEBUG=1 shows its output`))
  const timer = name === 'ready' ? setTimeout(() => reject(new Error(`${program} did not start`)), READY_MS) : undefined
  child.on('message', onMessage)
  child.once('exit', onExit)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    child.off('message', onMessage)
    child.off('exit', onExit)
  }
}
