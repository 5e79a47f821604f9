import { Box } from 'ink'
import type { ReactElement } from 'react'
import type { Console } from '../console.ts'
import { ROWS_MAX } from '../feed.ts'
import { cropped, cutTo, line } from '../lines.ts'
import type { Line, Span } from '../lines.ts'
import { spanText } from '../model/ages.ts'
import type { Seen } from '../seen.ts'
import { Modal, typedLine } from './modal.tsx'
import { Table } from './table.tsx'
import { TextLine } from './text-line.tsx'

/** What is looked at: the screen or what is open in it, how much there is, filter and marks. */
export function titleLine({ screen, view, rows, feed, opened, bodyHeight }: Seen, width: number): Line {
  if (opened !== undefined) {
    const hidden = opened.lines.length - bodyHeight
    const place = hidden > 0 ? `  ${view.open?.top ?? 0}/${hidden}` : ''
    return cropped(
      [{ text: ` ${screen.title} > ` }, { text: opened.title, tone: 'bold' }, { text: place, tone: 'dim' }],
      width,
    )
  }
  const more = feed.next === null ? '' : feed.rows.length >= ROWS_MAX ? '+ (filter for more)' : '+'
  const count =
    rows.length === feed.rows.length ? `${rows.length}${more}` : `${rows.length} of ${feed.rows.length}${more}`
  const place = rows.length === 0 ? '' : `${view.index + 1}/`
  const spans: Span[] = [
    { text: ` ${screen.title} `, tone: 'bold' },
    { text: `${place}${count}`, tone: 'dim' },
  ]
  if (view.filter !== '') spans.push({ text: `  filter: ${view.filter}`, tone: 'warn' })
  if (view.marks.size > 0) spans.push({ text: `  ${view.marks.size} marked`, tone: 'warn' })
  if (view.wide) spans.push({ text: '  wide: left, right', tone: 'dim' })
  if (feed.isBehind) spans.push({ text: '  much has come since: g', tone: 'warn' })
  else if (screen.follow === true && !view.follows && view.top > 0)
    spans.push({ text: '  not following: g', tone: 'dim' })
  return cropped(spans, width)
}

/** The line above the footer: what is being typed, what has happened, or what is wrong. */
export function newsLine(console: Console, width: number): Line {
  const { bar, toast, signedOut, now } = console.state()
  if (bar !== undefined)
    return [{ text: bar.kind === 'filter' ? '/' : ':' }, ...typedLine(bar.edit, width - 2).slice(1)]
  if (toast !== undefined) {
    const sign = { good: 'Done: ', bad: 'Error: ', info: '' }[toast.tone]
    const text = toast.text.split('\n').join('  ')
    return line(` ${sign}${text}`, toast.tone)
  }
  if (signedOut) return line(' Signed out: svc login. L signs in from here.', 'bad')
  const { feed, opened } = console.seen()
  const { failure } = opened?.feed.failure === undefined ? feed : opened.feed
  // What could not be opened is told of in its place.
  if (failure === undefined || (opened !== undefined && opened.row === undefined)) return line('')
  const hint = failure.hint === undefined ? '' : `  Try: ${failure.hint.split('\n')[0]}`
  return line(
    ` Error since ${spanText(now - failure.at)}: ${failure.text}${failure.text.includes('Try: ') ? '' : hint}`,
    'bad',
  )
}

function Opened({ seen }: { seen: Seen }): ReactElement {
  const top = seen.view.open?.top ?? 0
  const lines = seen.opened?.lines.slice(top, top + seen.bodyHeight) ?? []
  return (
    <Box flexDirection="column" height={seen.bodyHeight}>
      {lines.map((parts, index) => (
        // Lines have no names, and stand where they stand.
        <TextLine key={index} parts={[{ text: ' ' }, ...parts]} />
      ))}
    </Box>
  )
}

function List({ seen }: { seen: Seen }): ReactElement {
  return (
    <Box flexDirection="column">
      {seen.head.map((parts, index) => (
        <TextLine key={index} parts={cutTo(parts, seen.layout.width)} />
      ))}
      <Table seen={seen} />
    </Box>
  )
}

export function Body({ console, width }: { console: Console; width: number }): ReactElement {
  const seen = console.seen()
  const { modal } = console.state()
  return (
    <>
      <TextLine parts={titleLine(seen, width)} />
      <Box flexDirection="column" height={seen.bodyHeight} overflow="hidden">
        {modal !== undefined ? (
          <Modal console={console} />
        ) : seen.opened === undefined ? (
          <List seen={seen} />
        ) : (
          <Opened seen={seen} />
        )}
      </Box>
      <TextLine parts={cutTo(newsLine(console, width), width)} />
    </>
  )
}
