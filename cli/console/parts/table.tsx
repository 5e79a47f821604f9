import { Box } from 'ink'
import type { ReactElement } from 'react'
import { EMPTY_LINE, padded, paragraph } from '../lines.ts'
import type { Line } from '../lines.ts'
import type { Seen } from '../view-model.ts'
import { SIGNS } from '../table-lines.ts'
import { TextLine } from './text-line.tsx'

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
      {rows.length === 0 &&
        paragraph(emptyText(seen), width - SIGNS, 'dim').map((parts, index) => (
          <TextLine key={index} parts={[{ text: '  ' }, ...parts]} />
        ))}
      {rows.length > 0 && feed.rows.length === 0 && <TextLine parts={EMPTY_LINE} />}
    </Box>
  )
}

/** What stands where there are no rows. */
export function emptyText({ screen, view, feed, canAsk, isFull }: Seen): string {
  if (feed.readAt === undefined) return feed.failure === undefined ? 'Loading ...' : 'Nothing could be read yet.'
  if (view.filter === '') return screen.empty
  if (feed.next === null && !feed.isNewestOnly) return `Nothing fits "${view.filter}". Esc clears the filter.`
  const nothing = `Nothing in the ${feed.rows.length} ${feed.isNewestOnly ? 'newest' : 'loaded'} fits "${view.filter}".`
  if (canAsk) return `${nothing} Enter asks the service; Esc clears the filter.`
  if (feed.next !== null && !isFull) return `${nothing} PgDn loads more; Esc clears the filter.`
  const { serviceLooksFor: way } = screen
  return `${nothing} ${way === undefined ? 'There may be older ones' : `The service looks in all for ${way}`}. Esc clears the filter.`
}
