import type { Io } from '../base/io.ts'
import { cutTo } from '../base/width.ts'
import { printable } from '../base/text.ts'

export type Progress = {
  at(done: number, what?: string): void
  of(total: number): void
  note(text: string): void
  /** Takes the line away, for other output. */
  clear(): void
  /** Whether it is drawn; where it is not, progress may be reported otherwise. */
  readonly isShown: boolean
}

export type ProgressOptions = {
  title: string
  /** What is counted: "rows". */
  unit: string
  total?: number | undefined
  /** That the results go to the same terminal meanwhile, and would be drawn over. */
  isHidden?: boolean
}

/** How often it is drawn. Work that is over before the first time draws nothing. */
const EACH_MS = 120
const BAR = 20
const SPINNER = ['|', '/', '-', '\\']
/** To the beginning of the line, and all behind it away. */
const CLEAR = '\r\u001b[K'

type Where = { io: Pick<Io, 'stderr' | 'env'>; json: boolean; note(text: string): void }

/**
 * Does the work, and as long as it lasts shows a person at a terminal how far it is: a bar where the total is known,
 * how many in a second, and how long already. The line is gone when the work ends, however it ends. Elsewhere, and with
 * JSON, nothing is drawn.
 */
export async function withProgress<T>(
  context: Where,
  options: ProgressOptions,
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  const { stderr } = context.io
  const state = { done: 0, total: options.total, what: '' }
  let isDrawn = false
  const clear = (): void => {
    if (isDrawn) stderr.write(CLEAR)
    isDrawn = false
  }
  const begun = performance.now()
  let turn = 0
  const draw = (): void => {
    turn += 1
    const line = lineOf({ ...options, ...state }, { turn, elapsedMs: performance.now() - begun })
    stderr.write(`${CLEAR}${cutTo(line, stderr.columns - 1)}`)
    isDrawn = true
  }
  const isSeen = options.isHidden !== true && isShown(context)
  const timer = isSeen ? setInterval(draw, EACH_MS) : undefined
  timer?.unref()
  try {
    return await work({
      isShown: isSeen,
      clear,
      at(done, what = '') {
        Object.assign(state, { done, what: printable(what) })
      },
      of: (total) => void (state.total = total),
      note(text) {
        clear()
        context.note(text)
      },
    })
  } finally {
    clearInterval(timer)
    clear()
  }
}

function isShown({ io: { stderr, env }, json }: Where): boolean {
  const isCi = !['', 'false'].includes(env['CI'] ?? '')
  return stderr.isTTY && stderr.columns > 0 && !json && env['TERM'] !== 'dumb' && !isCi
}

type State = ProgressOptions & { done: number; what: string }

/** Such as `Exporting [#####...............] 250 of 1000 rows, 125/s, 2s`. */
export function lineOf(
  { title, unit, total, done, what }: State,
  { turn, elapsedMs }: { turn: number; elapsedMs: number },
): string {
  const spin = SPINNER[turn % SPINNER.length] ?? ''
  const seconds = Math.floor(elapsedMs / 1_000)
  const rate = elapsedMs >= 1_000 && done > 0 ? `, ${rateText((done * 1_000) / elapsedMs)}/s` : ''
  const count = total === undefined ? (done === 0 ? '' : ` ${done} ${unit}`) : ` ${done} of ${total} ${unit}`
  const doing = what === '' ? '' : `: ${what}`
  return `${title} ${barOf(done, total) ?? spin}${count}${rate}, ${elapsedText(seconds)}${doing}`
}

function barOf(done: number, total: number | undefined): string | undefined {
  if (total === undefined || total <= 0) return undefined
  const full = Math.round((Math.min(done, total) / total) * BAR)
  return `[${'#'.repeat(full)}${'.'.repeat(BAR - full)}]`
}

function rateText(perSecond: number): string {
  return String(perSecond >= 10 ? Math.round(perSecond) : Math.round(perSecond * 10) / 10)
}

function elapsedText(seconds: number): string {
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m ${String(seconds % 60).padStart(2, '0')}s`
}
