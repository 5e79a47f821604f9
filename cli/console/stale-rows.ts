import type { Screen, ScreenKey } from './screen.ts'
import type { Seen } from './view-model.ts'

type Asked = { screen: Screen; key: ScreenKey<unknown>; rows: readonly unknown[] }

/** A row as it is known now; `gone` where the whole list is known without it, undefined where that can't be said. */
export type RowNow = (id: string) => { row: unknown } | 'gone' | undefined

/** The rows as they are on the screen. */
export function rowsNow({ screen, feed, opened }: Pick<Seen, 'screen' | 'feed' | 'opened'>): RowNow {
  return (id) => {
    if (opened !== undefined) return opened.id === id && opened.row !== undefined ? { row: opened.row } : undefined
    const row = feed.rows.find((each) => screen.id(each) === id)
    if (row !== undefined) return { row }
    return feed.readAt !== undefined && feed.next === null && !feed.isNewestOnly ? 'gone' : undefined
  }
}

const NAMED_MAX = 3

/** What is another by now than it was when the form was opened, a line for each row; none where all is as it was. */
export function changedLines({ screen, key, rows }: Asked, now: RowNow): string[] {
  // The row that was selected when it was asked is none of its affairs.
  if (key.needs === 'nothing') return []
  const all = rows.flatMap((row) => {
    const text = row === undefined ? undefined : changeOf(key, row, now(screen.id(row)))
    if (text === undefined) return []
    return [rows.length === 1 ? text : `${screen.detail?.title(row) ?? screen.id(row)}: ${text}`]
  })
  if (all.length === 0) return []
  const rest = all.length - NAMED_MAX
  return ['This has changed meanwhile:', ...all.slice(0, NAMED_MAX), ...(rest > 0 ? [`and ${rest} more`] : [])]
}

function changeOf(key: ScreenKey<unknown>, row: unknown, now: ReturnType<RowNow>): string | undefined {
  if (now === undefined) return undefined
  if (now === 'gone') return 'it is not in this list any more'
  const [was, is] = [key.facts?.(row), key.facts?.(now.row)]
  if (was !== is) return `${is ?? ''}; it was ${was ?? ''}`
  // What was done at the same moment that it was asked for is known by what can be done with it.
  return key.fits?.(now.row) === false ? `${key.label}: not as it stands now` : undefined
}
