import { createInterface } from 'node:readline'
import { styleText } from 'node:util'
import { calledAs } from './command-hints.ts'
import { sinkOf } from './sink.ts'
import type { Sink } from './sink.ts'

export type Stdin = {
  readonly isTTY: boolean
  /** Reads all of standard input; more than `maxBytes` is an error. */
  read(maxBytes: number): Promise<Buffer>
  chunks(): AsyncIterable<Uint8Array>
  /** Reads one line that a person types, without its end; undefined at the end of the input. */
  readLine(): Promise<string | undefined>
}

/** Everything a command may touch of its process. Results go to stdout, all else to stderr; tests pass their own. */
export type Io = {
  stdout: Sink
  stderr: Sink
  stdin: Stdin
  env: NodeJS.ProcessEnv
  cwd: string
  /** What the user types to run a command: `svc`, or `npx svc`. */
  calledAs: string
  /** The variables of `env` that no environment set, each with the file or the flag that did. */
  origins?: ReadonlyMap<string, string>
}

export type Style = Parameters<typeof styleText>[0]
export type Paint = (style: Style, text: string) => string
export const COLOR_FLAGS = ['auto', 'always', 'never'] as const
export type ColorFlag = (typeof COLOR_FLAGS)[number]

export function systemIo(): Io {
  return {
    stdout: sinkOf(process.stdout),
    stderr: sinkOf(process.stderr),
    stdin: { isTTY: process.stdin.isTTY === true, read: readStdin, chunks: () => process.stdin, readLine },
    env: process.env,
    cwd: process.cwd(),
    calledAs: calledAs(process.env, process.argv[1]),
  }
}

async function readStdin(maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > maxBytes) throw new RangeError(`standard input holds more than ${maxBytes} bytes`)
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}

async function readLine(): Promise<string | undefined> {
  const lines = createInterface({ input: process.stdin })
  try {
    for await (const line of lines) return line
    return undefined
  } finally {
    lines.close()
  }
}

/** Whether a person is there who can be asked: not in a pipe, and not under CI. */
export function isAtTerminal({ stdin, stdout, stderr, env }: Io): boolean {
  return stdin.isTTY && stdout.isTTY && stderr.isTTY && ['', 'false'].includes(env['CI'] ?? '')
}

/**
 * Whether to colour a stream. The flag decides; then NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE (in this order, so that
 * no colour wins), then SVC_COLOR, which configuration files set; otherwise only a terminal that can show colours gets
 * them, and never under CI.
 */
export function useColor(flag: ColorFlag, env: NodeJS.ProcessEnv, isTTY: boolean): boolean {
  if (flag !== 'auto') return flag === 'always'
  if ((env['NO_COLOR'] ?? '') !== '') return false
  const force = env['FORCE_COLOR']
  if (force !== undefined) return force !== '0' && force !== 'false'
  if ((env['CLICOLOR_FORCE'] ?? '0') !== '0') return true
  const own = env['SVC_COLOR'] ?? ''
  if (own === 'always' || own === 'never') return own === 'always'
  if (!isTTY || env['TERM'] === 'dumb' || env['CLICOLOR'] === '0') return false
  return env['CI'] === undefined || env['CI'] === '' || env['CI'] === 'false'
}

export function paintFor(io: Io, stream: 'stdout' | 'stderr', flag: ColorFlag): Paint {
  if (!useColor(flag, io.env, io[stream].isTTY)) return (_style, text) => text
  return (style, text) => styleText(style, text, { validateStream: false })
}
