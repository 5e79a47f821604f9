import { Box } from 'ink'
import { useMemo } from 'react'
import type { ReactElement } from 'react'
import { EMPTY_LINE, line, padded } from '../lines.ts'
import type { Line } from '../lines.ts'
import type { Seen } from '../seen.ts'
import { laidTable } from '../table-lines.ts'
import { TextLine } from './text-line.tsx'

/** Two signs before each row: where the selection is, and whether it is marked or has just come. */
const SIGNS = 2

function signsOf({
  isSelected,
  isMarked,
  isFresh,
}: {
  isSelected: boolean
  isMarked: boolean
  isFresh: boolean
}): string {
  return `${isSelected ? '>' : ' '}${isMarked ? '*' : isFresh ? '+' : ' '}`
}

/** The list of a screen: only what is to be seen of it is drawn, whatever its length. */
export function Table({ seen }: { seen: Seen }): ReactElement {
  const { screen, rows, ids, view, layout, listHeight, feed } = seen
  const { width, wide } = layout
  // Ages move with the clock; the layout of hundreds of rows need not follow more often than that.
  const second = Math.floor(layout.now / 1_000)
  const laid = useMemo(
    () => laidTable(rows, screen.columns(layout), { width: width - SIGNS, wide, left: view.left }),
    [rows, screen, width, wide, view.left, second],
  )
  const shown = rows.slice(view.top, view.top + listHeight)
  return (
    <Box flexDirection="column" height={listHeight + 1}>
      <TextLine parts={rows.length === 0 ? EMPTY_LINE : [{ text: '  ' }, ...laid.header]} />
      {shown.map((_, offset) => {
        const index = view.top + offset
        const id = ids[index] ?? ''
        const isSelected = index === view.index
        const isFresh = view.fresh.has(id)
        const signs = { text: signsOf({ isSelected, isMarked: view.marks.has(id), isFresh }) }
        const parts: Line = [signs, ...laid.row(index)]
        return (
          <TextLine
            key={id}
            parts={isSelected ? padded(parts, width) : parts}
            look={isSelected ? 'selected' : isFresh ? 'fresh' : undefined}
          />
        )
      })}
      {rows.length === 0 && <TextLine parts={line(`  ${emptyText(seen)}`, 'dim')} />}
      {rows.length > 0 && feed.rows.length === 0 && <TextLine parts={EMPTY_LINE} />}
    </Box>
  )
}

/** What stands where there are no rows. */
export function emptyText({ screen, view, feed, canAsk }: Seen): string {
  if (feed.readAt === undefined) return feed.failure === undefined ? 'Loading ...' : 'Nothing could be read yet.'
  if (view.filter === '') return screen.empty
  if (feed.next === null) return `Nothing fits "${view.filter}". Esc clears the filter.`
  const more = canAsk ? 'Enter asks the service' : 'PgDn loads more'
  return `Nothing in the ${feed.rows.length} loaded fits "${view.filter}". ${more}; Esc clears the filter.`
}
