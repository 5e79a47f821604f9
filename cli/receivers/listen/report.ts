import type { FeedEvent } from '../../../src/wire/feed.ts'
import type { Context } from '../../kit/context.ts'
import type { Style } from '../../base/io.ts'
import { printable } from '../../base/text.ts'
import type { Answer } from '../send.ts'

export const LISTEN_STYLES = ['interactive', 'compact', 'quiet'] as const
export type ListenStyle = (typeof LISTEN_STYLES)[number]

export type Report = {
  arrived(event: FeedEvent): void
  answered(event: FeedEvent, result: Answer): void
  /** What must not be overlooked, on standard error. */
  alarm(text: string): void
  /** A remark on standard error, in every style. */
  note(text: string): void
  /** A remark that only the interactive style makes. */
  hint(text: string): void
}

export type ReportOptions = {
  style: ListenStyle
  /** Whether standard output is for data: the lines for people then go to standard error. */
  printsData: boolean
  url: URL | undefined
}

/** Shows what happens: an arrow for each event and one for each answer, or less of it. */
export function makeReport({ io, print, paint }: Context, { style, printsData, url }: ReportOptions): Report {
  const out = printsData ? { sink: io.stderr, paint } : { sink: io.stdout, paint: print.paint }
  const line = (text: string): void => out.sink.write(`${text}\n`)
  const address = url === undefined ? '' : printable(url.href)

  function answered(event: FeedEvent, result: Answer): void {
    const isFailure = result.reason !== undefined
    if (style === 'quiet' && !isFailure) return
    const why = isFailure ? `: ${result.reason}` : ''
    const code = result.status ?? 'ERR'
    const text =
      style === 'compact'
        ? `${nameOf(event)} ${idOf(event)} ${code} ${result.durationMs}ms${why}`
        : `<-- [${code}] POST ${address} (${result.durationMs}ms) [${idOf(event)}]${why}`
    line(out.paint(isFailure ? 'red' : 'green', text))
  }

  return {
    arrived(event) {
      if (style === 'interactive') line(`--> ${out.paint('bold', nameOf(event))} [${idOf(event)}]`)
      // In the compact form the answer's line is the only one.
      if (style === 'compact' && url === undefined) line(`${nameOf(event)} ${idOf(event)}`)
    },
    answered,
    alarm: (text) => io.stderr.write(`${paint(LOUD, text)}\n`),
    note: (text) => io.stderr.write(`${text}\n`),
    hint(text) {
      if (style === 'interactive') io.stderr.write(`${paint('dim', text)}\n`)
    },
  }
}

const LOUD: Style = ['bold', 'red']

function nameOf(event: FeedEvent): string {
  return printable(event.event_type)
}

function idOf(event: FeedEvent): string {
  return printable(event.event_id)
}
