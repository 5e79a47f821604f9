import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawn } from '@lydell/node-pty'
import xterm from '@xterm/headless'
import type { Test } from 'tap'
import { noteRan } from '../cli/ran.ts'
import { bundled } from './built.ts'
import { SCRATCH } from './scratch.ts'
import { pause } from './until.ts'

/*
 * A command in a real pseudo-terminal, with a terminal behind it that understands what it draws. A shell runs it, and
 * tells afterwards how it left the terminal.
 */

/** With room for what is loaded: fewer collections while a command starts. */
const NODE = [process.execPath, '--min-semi-space-size=16']

/** How the command ended, and how it left the terminal. */
export type Left = {
  code: number
  /** Whether the picture of before is back. */
  isPlain: boolean
  isCursorShown: boolean
  pastesPlain: boolean
  /** Whether lines are read as lines again, and what is typed is echoed. */
  isCooked: boolean
  /** The contents of the screen afterwards. */
  text: string
}

export type Opened = {
  /** The lines of the screen, without blanks at their ends. */
  screen(): string[]
  text(): string
  press(...keys: string[]): void
  type(text: string): void
  /** Waits until a whole frame shows it; fails with what is shown instead. */
  until(what: RegExp | ((text: string) => boolean), timeoutMs?: number): Promise<string>
  resize(columns: number, rows: number): void
  /** Everything that was written so far, as it came. */
  raw(): string
  /** The process of the command itself; undefined once it has ended. */
  pid(): number | undefined
  /** Sends a signal to the command itself. */
  kill(signal: NodeJS.Signals): void
  /** Waits for its end. */
  ended(timeoutMs?: number): Promise<Left>
  /** Keeps the screen in a file, where SVC_TEST_SCREENSHOTS names a folder. */
  shot(name: string): void
}

export type OpenOptions = {
  columns?: number
  rows?: number
  env?: NodeJS.ProcessEnv
  cwd?: string
}

const KEYS: Readonly<Record<string, string>> = {
  enter: '\r',
  esc: '\u001b',
  tab: '\t',
  'shift-tab': '\u001b[Z',
  up: '\u001b[A',
  down: '\u001b[B',
  right: '\u001b[C',
  left: '\u001b[D',
  home: '\u001b[H',
  end: '\u001b[F',
  pageup: '\u001b[5~',
  pagedown: '\u001b[6~',
  backspace: '\u007f',
  space: ' ',
}

function bytesOf(key: string): string {
  if (/^ctrl-[a-z]$/.test(key)) return String.fromCodePoint((key.codePointAt(5) ?? 0) - 96)
  return KEYS[key] ?? key
}

/** A console that starts on a busy machine is slow; the wait ends as soon as the text is shown. */
const TIMEOUT_MS = 60_000
/** As terminals do: a frame without an end is shown as it is. */
const FRAME_MS = 1_000
const ENDED = /\[ended (\d+)\]([^]*)\[done\]/

/** The owner of the terminal, which closes it at its end: a test or a benchmark. */
type Owner = Pick<Test, 'teardown'>

/** Runs a shell command in a terminal of its own; it is killed at the end of the test. */
export function open(t: Owner, command: string, { columns = 80, rows = 24, env = {}, cwd }: OpenOptions = {}): Opened {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 200 })
  const script = `${command}; code=$?; echo "[ended $code]"; stty -a; echo "[done]"`
  const pty = spawn('/bin/sh', ['-c', script], {
    cols: columns,
    rows,
    env: { ...cleanOf(process.env), TERM: 'xterm-256color', LANG: 'C.UTF-8', ...env },
    ...(cwd === undefined ? {} : { cwd }),
  })
  let written = ''
  let isOver = false
  let writtenAt = 0
  pty.onData((text) => {
    written += text
    writtenAt = performance.now()
    terminal.write(text)
  })
  pty.onExit(() => void (isOver = true))
  t.teardown(() => {
    if (!isOver) pty.kill('SIGKILL')
    terminal.dispose()
  })

  function screen(): string[] {
    const buffer = terminal.buffer.active
    return Array.from({ length: terminal.rows }, (_, row) => {
      return buffer.getLine(buffer.baseY + row)?.translateToString(true) ?? ''
    })
  }

  function pid(): number | undefined {
    const children = readFileSync(`/proc/${pty.pid}/task/${pty.pid}/children`, 'utf8').trim()
    const [child] = children.split(' ')
    return child === undefined || child === '' ? undefined : Number(child)
  }

  /** Whether no frame is half drawn: what comes in pieces would show its head with the foot of the one before. */
  function isWhole(): boolean {
    return !terminal.modes.synchronizedOutputMode || performance.now() - writtenAt > FRAME_MS
  }

  async function until(what: RegExp | ((text: string) => boolean), timeoutMs = TIMEOUT_MS): Promise<string> {
    const holds = typeof what === 'function' ? what : (text: string): boolean => what.test(text)
    const startedAt = performance.now()
    for (;;) {
      const text = screen().join('\n')
      if (isWhole() && holds(text)) return text
      if (performance.now() - startedAt > timeoutMs)
        throw new Error(`timed out, waiting for ${String(what)}; the screen:\n${text}`)
      await pause(startedAt)
    }
  }

  return {
    screen,
    text: () => screen().join('\n'),
    press: (...keys) => keys.forEach((key) => pty.write(bytesOf(key))),
    type: (text) => pty.write(text),
    until,
    resize(newColumns, newRows) {
      terminal.resize(newColumns, newRows)
      pty.resize(newColumns, newRows)
    },
    raw: () => written,
    pid,
    kill(signal) {
      const child = pid()
      if (child !== undefined) process.kill(child, signal)
    },
    async ended(timeoutMs = TIMEOUT_MS) {
      const startedAt = performance.now()
      while (!ENDED.test(written)) {
        if (isOver || performance.now() - startedAt > timeoutMs)
          throw new Error(`it did not end; the screen:\n${screen().join('\n')}`)
        await pause(startedAt)
      }
      const [, code, stty = ''] = ENDED.exec(written) ?? []
      await new Promise<void>((resolve) => terminal.write('', resolve))
      return {
        code: Number(code),
        isPlain: terminal.buffer.active.type === 'normal',
        isCursorShown: written.lastIndexOf('\u001b[?25h') >= written.lastIndexOf('\u001b[?25l'),
        pastesPlain: !terminal.modes.bracketedPasteMode,
        isCooked: /(?<!-)\bicanon\b/.test(stty) && /(?<!-)\becho\b/.test(stty) && /(?<!-)\bisig\b/.test(stty),
        text: screen().join('\n'),
      }
    },
    shot(name) {
      const folder = process.env['SVC_TEST_SCREENSHOTS'] ?? ''
      if (folder === '') return
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, `${name}.txt`), `${screen().join('\n')}\n`)
    },
  }
}

/** The environment of commands, without variables of the test that would change their behaviour. */
function cleanOf(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || /^(NODE_OPTIONS|TAP|SVC_|_TAP|CI$|FORCE_COLOR|NO_COLOR|npm_|LC_|EDITOR|VISUAL)/.test(name)
        ? []
        : [[name, value]],
    ),
  )
}

export type ConsoleOptions = OpenOptions & {
  url: string
  words?: readonly string[]
  /** Without the word `ui`, which options of every command do not need. */
  isBare?: boolean
  /** The shell command line, for commands that run among others. */
  around?(command: string): string
}

/** The console, started from source. It acts as `env` says: SVC_CLIENT_ID for a merchant, SVC_PLATFORM_USER for an operator. */
export function openConsole(
  t: Owner,
  { url, words = [], isBare = false, env = {}, around = (command) => command, ...options }: ConsoleOptions,
): Opened {
  const opened = open(t, around(commandFromSource(isBare ? words : ['ui', ...words])), {
    cwd: SCRATCH,
    ...options,
    env: { SVC_API_URL: url, SVC_CONFIG_DIR: '/nowhere/config', SVC_STATE_DIR: '/nowhere/state', ...env },
  })
  async function ended(timeoutMs?: number): Promise<Left> {
    const left = await opened.ended(timeoutMs)
    noteRan(isBare ? [...words, 'ui'] : ['ui', ...words], left.code)
    return left
  }
  return { ...opened, ended }
}

/** The shell command line that runs svc from source. */
export function commandFromSource(words: readonly string[]): string {
  return quoted([...NODE, bundled('svc-source'), ...words])
}

/** A console with one screen that fails on demand; see crashing-console.ts. */
export function openCrashing(t: Test, url: string): Opened {
  return open(t, quoted([...NODE, bundled('crashing-console'), url]), { cwd: SCRATCH })
}

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(' ')
}
