import { Box } from 'ink'
import type { ReactElement } from 'react'
import type { Console } from '../console.ts'
import { cutTo, EMPTY_LINE, padded, paragraph } from '../lines.ts'
import type { Line, Span } from '../lines.ts'
import type { ConsoleView } from '../view-model.ts'
import { Modal, typedLine } from './modal.tsx'
import { Lines, TextLine } from './text-line.tsx'
import { SIGNS } from '../table-lines.ts'

export function Table({ seen }: { seen: ConsoleView }): ReactElement {
  const { rows, ids, view, layout, listHeight, feed } = seen
  const { width } = layout
  const laid = seen.laid()
  const shown = rows.slice(view.top, view.top + listHeight)
  return (
    <Box flexDirection="column" height={listHeight + 1}>
      <TextLine parts={rows.length === 0 ? EMPTY_LINE : [{ text: '  ' }, ...laid.header]} />
      {shown.map((_, offset) => {
        const index = view.top + offset
        const id = ids[index] ?? ''
        const isSelected = index === view.index
        const isFresh = view.fresh.has(id)
        const signs = `${isSelected ? '>' : ' '}${view.marks.has(id) ? '*' : isFresh ? '+' : ' '}`
        const parts: Line = [{ text: signs }, ...laid.row(index)]
        return (
          <TextLine
            key={id}
            parts={isSelected ? padded(parts, width) : parts}
            look={isSelected ? 'selected' : isFresh ? 'fresh' : undefined}
          />
        )
      })}
      {rows.length === 0 && <Lines lines={paragraph(emptyText(seen), width - SIGNS, 'dim')} indent="  " />}
      {rows.length > 0 && feed.rows.length === 0 && <TextLine parts={EMPTY_LINE} />}
    </Box>
  )
}

export function emptyText({ screen, view, feed, canAsk, isFull }: ConsoleView): string {
  if (feed.readAt === undefined) return feed.failure === undefined ? 'Loading ...' : 'Nothing could be read yet.'
  if (view.filter === '') return screen.empty
  if (feed.next === null && !feed.isNewestOnly) return `Nothing fits "${view.filter}". Esc clears the filter.`
  const nothing = `Nothing in the ${feed.rows.length} ${feed.isNewestOnly ? 'newest' : 'loaded'} fits "${view.filter}".`
  if (canAsk) return `${nothing} Enter asks the service; Esc clears the filter.`
  if (feed.next !== null && !isFull) return `${nothing} PgDn loads more; Esc clears the filter.`
  const { serviceLooksFor: way } = screen
  return `${nothing} ${way === undefined ? 'There may be older ones' : `The service looks in all for ${way}`}. Esc clears the filter.`
}

export function titleLine(seen: ConsoleView, width: number): Line {
  const { screen, view, rows, feed, opened, bodyHeight } = seen
  if (opened !== undefined) {
    const { length } = opened.lines
    const top = view.open?.top ?? 0
    const place = length > bodyHeight ? `  ${top + 1}-${Math.min(length, top + bodyHeight)} of ${length}` : ''
    const name: Span[] = [{ text: ` ${screen.title} > ` }, { text: opened.title, tone: 'bold' }]
    // A long name gives way to the place.
    return [...cutTo(name, width - place.length), { text: place, tone: 'dim' }]
  }
  const place = rows.length === 0 ? '' : `${view.index + 1}/`
  const spans: Span[] = [...titleSpans(seen), { text: `${place}${countText(seen)}`, tone: 'dim' }]
  if (view.filter !== '') spans.push({ text: `  filter: ${view.filter}`, tone: 'warn' })
  if (view.marks.size > 0) spans.push({ text: `  ${view.marks.size} marked`, tone: 'warn' })
  if (view.wide) spans.push({ text: seen.laid().most === 0 ? '  wide' : '  wide: left, right', tone: 'dim' })
  if (feed.isBehind) spans.push({ text: '  much has come since: g', tone: 'warn' })
  else if (screen.follow === true && !view.follows && view.top > 0)
    spans.push({ text: '  not following: g', tone: 'dim' })
  return cutTo(spans, width)
}

/** The name of the screen; of one that shares its key, the others are beside it where no filter needs the room. */
function titleSpans({ screen, siblings, view }: ConsoleView): Span[] {
  if (siblings.length < 2 || view.filter !== '') return [{ text: ` ${screen.title} `, tone: 'bold' }]
  return siblings
    .flatMap((each): Span[] => [
      { text: ' ' },
      each === screen ? { text: `[${each.title}]`, tone: 'bold' } : { text: each.title, tone: 'dim' },
    ])
    .concat({ text: `  ${screen.key} next  `, tone: 'dim' })
}

function countText({ view, rows, feed, whole, isFull }: ConsoleView): string {
  const isAll = feed.next === null && !feed.isNewestOnly
  if (view.filter === '')
    return `${rows.length}${isAll ? '' : feed.isNewestOnly ? ' newest' : isFull ? '+ (filter for more)' : '+'}`
  if (!isAll) return `${rows.length} of ${feed.rows.length} ${feed.isNewestOnly ? 'newest' : 'loaded'}`
  return whole === undefined || whole === rows.length ? String(rows.length) : `${rows.length} of ${whole}`
}

export function lowerLines(console: Console, width: number): readonly Line[] {
  const { bar } = console.state()
  if (bar === undefined) return console.seen().news
  return [[{ text: bar.kind === 'filter' ? '/' : ':' }, ...typedLine(bar.edit, width - 2).slice(1)]]
}

export function Body({ console, width }: { console: Console; width: number }): ReactElement {
  const seen = console.seen()
  const { opened, view, head, bodyHeight } = seen
  const top = view.open?.top ?? 0
  const list = (
    <>
      <Lines lines={head} width={width} />
      <Table seen={seen} />
    </>
  )
  const body = opened === undefined ? list : <Lines lines={opened.lines.slice(top, top + bodyHeight)} indent=" " />
  return (
    <>
      <TextLine parts={titleLine(seen, width)} />
      <Box flexDirection="column" height={bodyHeight} overflow="hidden">
        {console.state().modal === undefined ? body : <Modal console={console} />}
      </Box>
      <Lines lines={lowerLines(console, width)} width={width} />
    </>
  )
}
