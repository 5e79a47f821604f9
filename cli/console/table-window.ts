import { GAP } from '../output/fit.ts'
import { CUT } from './lines.ts'

/** A column of the wide form, by its widths. */
type Wide = { width: number; least: number; align?: 'right' | undefined }

/** A column as it is shown: which one, how wide, and what stands before it in the header; as much is blank in rows. */
export type Shown = { at: number; width: number; before: string }

type Window = {
  shown: readonly Shown[]
  /** Whether there are more on the right. */
  hasMore: boolean
  /** How many columns can be scrolled away to see the last one; 0 where all are to be seen. */
  most: number
}

/** All columns at their widths. */
function unscrolled(widths: readonly number[]): Window {
  const shown = widths.map((width, at) => ({ at, width, before: at === 0 ? '' : GAP }))
  return { shown, hasMore: false, most: 0 }
}

/** A text that is cut to less than this says too little. */
const CUT_LEAST = 8
/** Behind the header where there are more columns on the right. */
export const MORE = `${GAP}${CUT}`
/** Between the first column and the others, where some of them are scrolled away. */
const SKIPPED = ` ${CUT} `

/**
 * The columns of a table that is wider than the screen. The first one stays, for it tells what a row is; the others are
 * scrolled one by one. Signs in the header say on which side there is more.
 */
export function windowed(columns: readonly Wide[], { width, left }: { width: number; left: number }): Window {
  if (isWhole(columns, width)) return unscrolled(columns.map((each) => each.width))
  const first = Math.min(columns[0]?.width ?? 0, Math.floor(width / 2))
  const count = columns.length - 1
  const room = width - first
  let most = 0
  while (most < count - 1 && !isWhole(columns.slice(1 + most), room - gapOf(most).length)) most += 1
  const from = Math.min(left, most)
  const others = shownFrom(columns, from, room)
  const end = others.at(-1)
  const hasMore = end !== undefined && (end.at < count || end.width < (columns[end.at]?.width ?? 0))
  return { shown: [{ at: 0, width: first, before: '' }, ...others], hasMore, most }
}

function gapOf(from: number): string {
  return from === 0 ? GAP : SKIPPED
}

function isWhole(columns: readonly Wide[], room: number): boolean {
  return columns.reduce((sum, { width }) => sum + width + GAP.length, -GAP.length) <= room
}

function shownFrom(columns: readonly Wide[], from: number, room: number): Shown[] {
  const shown: Shown[] = []
  let rest = room
  for (const [offset, { width, least, align }] of columns.slice(1 + from).entries()) {
    const at = 1 + from + offset
    const before = offset === 0 ? gapOf(from) : GAP
    const free = rest - before.length - (at === columns.length - 1 ? 0 : MORE.length)
    // Half a number would be another one; something is shown in any case.
    const fits = width <= free || offset === 0 || (align !== 'right' && free >= Math.max(least, CUT_LEAST))
    if (!fits) break
    shown.push({ at, width: Math.min(width, Math.max(1, free)), before })
    if (width > free) break
    rest -= before.length + width
  }
  return shown
}
