import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { visualLines } from '../base/width.ts'
import type { Io } from '../base/io.ts'

/** What stands between a command's results and the terminal: what is longer than that is shown by the user's pager. */
export type Pager = {
  /** Prints the text, or keeps it for `flush` where it does not fit into the terminal, and all that comes after it. */
  write(text: string): void
  /** Does this at once, or after the pager where something is kept for it. */
  after(act: () => void): void
  /** Shows what is kept, and waits until its reader has seen enough of it. */
  flush(): Promise<void>
}

/** @param isWanted false where the user wants none: `--no-pager` */
export function makePager(io: Io, isWanted: boolean): Pager {
  const command = isWanted ? pagerOf(io) : undefined
  let held = ''
  let later: (() => void)[] = []
  return {
    write(text) {
      const { rows = 0, columns } = io.stdout
      const isLong = command !== undefined && visualLines(text, columns) >= rows
      if (held !== '' || isLong) held += text
      else io.stdout.write(text)
    },
    after(act) {
      if (held === '') act()
      else later.push(act)
    },
    async flush() {
      const [text, acts] = [held, later]
      held = ''
      later = []
      if (text !== '' && (command === undefined || !(await show(io, command, text)))) io.stdout.write(text)
      for (const act of acts) act()
    },
  }
}

/** The same streams, with results that are longer than the terminal kept for the pager. */
export function pagedIo(io: Io, pager: Pager | undefined): Io {
  return pager === undefined ? io : { ...io, stdout: Object.create(io.stdout, { write: { value: pager.write } }) }
}

type PagerCommand = { words: string; isOwn: boolean }

/** The pager that the user has chosen, else less; undefined where no one reads at a terminal. */
function pagerOf({ stdout, env }: Io): PagerCommand | undefined {
  const isCi = !['', 'false'].includes(env['CI'] ?? '')
  if (!stdout.isTTY || (stdout.rows ?? 0) <= 0 || env['TERM'] === 'dumb' || isCi) return undefined
  const own = (env['SVC_PAGER'] ?? env['PAGER'])?.trim()
  if (own === '' || own === 'cat') return undefined
  return own === undefined ? { words: 'less', isOwn: false } : { words: own, isOwn: true }
}

/**
 * Runs the pager with the text on its standard input, and nothing else of ours. A pager of the user's own is a command
 * with words, which a shell reads, as with git. False is a pager that is not there or has failed.
 */
async function show({ env }: Io, { words, isOwn }: PagerCommand, text: string): Promise<boolean> {
  // Ctrl+C belongs to the pager while it runs.
  const ignore = (): void => undefined
  process.on('SIGINT', ignore)
  try {
    const child = spawn(words, [], {
      stdio: ['pipe', 'inherit', 'inherit'],
      // Quits by itself where all of it fits, shows colours, and leaves what was read on the screen.
      env: { ...env, LESS: env['LESS'] ?? 'FRX', LV: env['LV'] ?? '-c' },
      shell: isOwn,
    })
    // Who quits before the end has read enough.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(text)
    const [code, signal] = await once(child, 'exit')
    return code === 0 || code === 130 || signal === 'SIGINT'
  } catch {
    return false
  } finally {
    process.off('SIGINT', ignore)
  }
}
