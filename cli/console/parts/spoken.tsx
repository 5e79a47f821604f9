import { Box, Text } from 'ink'
import type { ReactElement } from 'react'
import { printable } from '../../base/text.ts'
import type { Console } from '../console.ts'
import { lineWidth, plainOf, saidOf } from '../lines.ts'
import type { ConsoleView } from '../view-model.ts'
import { lowerLines, titleLine, emptyText } from './body.tsx'
import { footerLines } from './footer.tsx'
import { linkText } from './header.tsx'
import { formLines } from './modal.tsx'
import { readingLines } from '../tools.ts'

const WIDE = 200
/** A choice is heard in so few words that it can be followed. */
const SPOKEN_ROOM = 16

function spokenRow({ screen, layout, rows, ids, view }: ConsoleView, index: number): string {
  const row = rows[index]
  if (row === undefined) return ''
  const id = ids[index] ?? ''
  const said = screen
    .columns(layout)
    .filter(({ onlyWide }) => onlyWide !== true)
    .map(({ title, value }) => [title, printable(value(row))])
    .filter(([, text]) => text !== '')
    .map(([title, text]) => `${title} ${text}`)
  const signs = [view.marks.has(id) ? 'marked' : '', view.fresh.has(id) ? 'new' : ''].filter((sign) => sign !== '')
  return [...signs, ...said].join(', ')
}

/** The console for screen readers: lines one after the other, no boxes, no columns; of a list the row that is selected. */
function spokenLines(console: Console): string[] {
  const seen = console.seen()
  const state = console.state()
  const { who, sandbox, readonly } = console.state().session.rights
  const { modal } = state
  const top = `svc, ${sandbox ? 'SANDBOX' : 'LIVE'}, ${who.name}, ${who.role}${readonly ? ', read-only' : ''}, ${linkText(state, seen.age).text}`
  const news = lowerLines(console, WIDE)
    .map((each) => plainOf(each).trim())
    .join(' ')
  const keys = footerLines(console, WIDE)
    .map(plainOf)
    .join('  ')
    .trim()
    .replaceAll(/\s{2,}/g, ', ')
  const main =
    modal?.kind === 'form'
      ? [
          `${modal.live ? 'LIVE: ' : ''}${modal.title}`,
          ...formLines(console, modal, { width: WIDE, room: SPOKEN_ROOM }).map(plainOf),
        ]
      : modal !== undefined
        ? [readingLines(console).title, ...readingLines(console).lines.slice(modal.top).map(plainOf)]
        : bodyLines(seen)
  return [top, ...main, news, `Keys: ${keys}`].filter((text) => text.trim() !== '')
}

function bodyLines(seen: ConsoleView): string[] {
  const { opened, head, rows, view, layout } = seen
  const title = plainOf(titleLine(seen, Math.max(WIDE, layout.width))).trim()
  if (opened !== undefined)
    return [
      title,
      ...opened.lines
        .slice(view.open?.top ?? 0)
        .filter((each) => lineWidth(each) > 0)
        .map(saidOf),
    ]
  const list =
    rows.length === 0 ? emptyText(seen) : `Row ${view.index + 1} of ${rows.length}: ${spokenRow(seen, view.index)}`
  return [title, ...head.map(saidOf), list]
}

export function Spoken({ console }: { console: Console }): ReactElement {
  return (
    <Box flexDirection="column">
      {spokenLines(console).map((text, index) => (
        <Text key={index}>{printable(text)}</Text>
      ))}
    </Box>
  )
}
