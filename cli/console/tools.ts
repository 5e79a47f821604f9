import { printable } from '../base/text.ts'
import type { Console } from './console.ts'
import { paragraph } from './lines.ts'
import type { Line } from './lines.ts'
import { whyHidden } from './model/allowed.ts'
import { gone, inView, scrolled } from './model/changes.ts'
import { screensOf, viewOf } from './model/state.ts'
import type { Toast } from './model/state.ts'
import type { ScreenName } from './screen-names.ts'
import type { Tools, Watching } from './screen.ts'
import { CliError, messageOf } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'

export function toolsOf(console: Console, by?: Pick<Tools, 'client' | 'who'>): Tools {
  const { session } = console.state()
  const { client, who } = by ?? { client: session.client, who: session.rights.who }
  return {
    client,
    who,
    go(screen, to = {}) {
      if (screensOf(console.state()).some(({ name }) => name === screen))
        console.update(gone(screen, { isStep: true, ...to }))
      else console.toast({ text: hiddenText(console, screen), tone: 'bad' })
    },
    screens: () => screensOf(console.state()).map(({ name }) => name),
    stateDir: console.host.stateDir,
    show: (title, lines, options) => console.update({ modal: { kind: 'text', title, lines, top: 0, ...options } }),
    watch: (title, work) => watch(console, title, work),
    keep: (kept) => console.update({ kept: { ...console.state().kept, ...kept } }),
    follow() {
      console.update(
        inView((view) => ({ ...view, ...(view.follows ? { follows: false } : { follows: true, index: 0, top: 0 }) })),
      )
      return viewOf(console.state()).follows
    },
    say: (text) => console.toast({ text, tone: 'info' }),
  }
}

/** A border, a title and a last line. */
const MODAL_LINES = 4
export const MODAL_WIDTH_MAX = 100

export function readingLines(console: Console): { title: string; lines: readonly Line[]; height: number } {
  const { modal } = console.state()
  const { bodyHeight, layout } = console.seen()
  const width = Math.max(20, Math.min(layout.width, MODAL_WIDTH_MAX) - 4)
  const texts = modal?.kind === 'text' ? modal.lines : []
  const lines = texts.flatMap((text) => (typeof text === 'string' ? paragraph(text, width) : [text]))
  return { title: printable(modal?.title ?? ''), lines, height: Math.max(1, bodyHeight - MODAL_LINES) }
}

export async function attempt(console: Console, run: () => Promise<Toast | undefined>): Promise<void> {
  try {
    const toast = await run()
    if (toast !== undefined) console.toast(toast)
  } catch (error) {
    console.toast({ text: errorText(error), tone: 'bad' })
  }
}

export function hiddenText(console: Console, name: ScreenName): string {
  const { screens, session } = console.state()
  const hidden = screens.find((each) => each.name === name)
  return hidden === undefined ? `there is no screen ${name}` : whyHidden(hidden, session.rights)
}

/** Shows a text that grows while something goes on. The store stops that as soon as the text is closed. */
async function watch(
  console: Console,
  title: string,
  work: (shown: Watching) => Promise<readonly string[]>,
): Promise<boolean> {
  const by = new AbortController()
  let last: readonly string[] = ['Working ...']
  console.update({ modal: { kind: 'text', title, lines: last, top: 0, by, isGoing: true } })
  const write = (lines: readonly string[], isGoing: boolean): void => {
    last = lines
    const { modal } = console.state()
    if (modal?.kind !== 'text' || modal.by !== by || modal.isGoing !== true) return
    const before = readingLines(console)
    const wasAtEnd = modal.top >= before.lines.length - before.height
    const shown = isGoing ? [...lines, '', 'Esc stops it.'] : lines
    console.update({ modal: { ...modal, lines: shown, isGoing } })
    const { lines: all, height } = readingLines(console)
    // The end stays in sight, unless the reader has scrolled up.
    if (wasAtEnd) console.update(scrolled('last', { count: all.length, height }))
  }
  try {
    write(await work({ signal: by.signal, write: (lines) => write(lines, true) }), false)
  } catch (error) {
    if (by.signal.aborted) return false
    write([...last, '', messageOf(error)], false)
    throw error
  }
  return !by.signal.aborted
}

export function errorText(error: unknown): string {
  if (!(error instanceof CliError)) return messageOf(error)
  if (wantsFactor(error))
    return `${error.message}\nTry: L behind this, which is svc login --second-factor; then the same again`
  const { hint } = error.options
  return hint === undefined ? error.message : `${error.message}\nTry: ${hint}`
}

export function isSignedOut(error: unknown): boolean {
  return error instanceof CliError && error.options.exit === EXIT.signedOut && !wantsFactor(error)
}

/** Whether the service wants a new sign-in before it does this, from a person who is signed in. */
export function wantsFactor(error: unknown): boolean {
  return error instanceof CliError && error.code === 'INSUFFICIENT_USER_AUTHENTICATION'
}

export function fieldsOf(error: unknown): string[] {
  if (!(error instanceof CliError)) return []
  // What was not even sent is named as the command line names it: `--drop-callback: must be a share`.
  const [, flag] = /^(?:--)?([a-z-]+): /.exec(error.message) ?? []
  const named = error.code === 'USAGE' && flag !== undefined ? [flag.replaceAll('-', '_')] : []
  return [...(error.options.fields ?? []).map(({ path }) => path), ...named]
}
