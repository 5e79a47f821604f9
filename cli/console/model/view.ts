export type View = {
  selected: string | undefined
  /** Where the selected row stands, or stood when it went. */
  index: number
  top: number
  /** How many of the table's columns, behind the first, lie left of what is shown, in the wide form. */
  left: number
  wide: boolean
  marks: ReadonlySet<string>
  filter: string
  /** Whether a link set that filter: it goes when the screen is chosen by its key. */
  isLed?: boolean
  /** The filter as it was taken with Enter: what the service is asked for. */
  asked: string
  /** Whether the newest row is followed: the selection has not moved since. */
  follows: boolean
  /** Rows that have just come, and when the last of them did, in milliseconds. */
  fresh: ReadonlySet<string>
  freshAt: number
  /** What is looked at in detail, how far it is scrolled, and whether it was led to from another screen. */
  open: { id: string; top: number; isStep?: true } | undefined
}

export const NEW_VIEW: View = {
  selected: undefined,
  index: 0,
  top: 0,
  left: 0,
  wide: false,
  marks: new Set(),
  filter: '',
  asked: '',
  follows: true,
  fresh: new Set(),
  freshAt: -Infinity,
  open: undefined,
}

export type Move = 'up' | 'down' | 'pageUp' | 'pageDown' | 'first' | 'last'

export function placeAfter(move: Move, place: number, { count, height }: { count: number; height: number }): number {
  const page = Math.max(1, height - 1)
  const to = { up: place - 1, down: place + 1, pageUp: place - page, pageDown: place + page, first: 0, last: count - 1 }
  return Math.max(0, Math.min(to[move], count - 1))
}

/** The list after a move of the selection. Moving stops following; going to the first row follows again. */
export function moved(view: View, move: Move, { ids, height }: { ids: readonly string[]; height: number }): View {
  const index = placeAfter(move, view.index, { count: ids.length, height })
  return shownFrom({ ...view, index, selected: ids[index], follows: move === 'first' }, height, ids.length)
}

function shownFrom(view: View, height: number, count: number): View {
  const most = Math.max(0, count - height)
  const top = Math.min(Math.max(view.top, view.index - height + 1), view.index, most)
  return { ...view, top: Math.max(0, top) }
}

type Arrival = {
  ids: readonly string[]
  all: readonly string[]
  /** What has really come with the last reading: what a filter lets in, or scrolling reads on, is not new. */
  came?: { ids: readonly string[]; at: number } | undefined
  height: number
  follow: boolean
}

/**
 * The list after its rows have come again. The selection stays on its id, and on its line of the screen; where that is
 * gone, it stays at its place. Marks stay with what is still there.
 */
export function arrived(view: View, { ids, all, came, height, follow }: Arrival): View {
  const known = new Set(all)
  const isNew = came !== undefined && came.at > view.freshAt && came.ids.length > 0
  const marks = [...view.marks].filter((id) => known.has(id))
  const next: View = {
    ...view,
    ...(isNew ? { fresh: new Set(came.ids), freshAt: came.at } : {}),
    marks: marks.length === view.marks.size ? view.marks : new Set(marks),
  }
  if (follow && view.follows) return { ...next, index: 0, top: 0, selected: ids[0] }
  const at = view.selected === undefined ? -1 : ids.indexOf(view.selected)
  const index = at === -1 ? Math.max(0, Math.min(view.index, ids.length - 1)) : at
  // The row keeps its line of the screen, unless the beginning of the list is shown and there is room for it.
  const top = view.top === 0 && index < height ? 0 : view.top + (index - view.index)
  return shownFrom({ ...next, index, selected: ids[index], top }, height, ids.length)
}

export function toggled(view: View, id: string): View {
  const marks = new Set(view.marks)
  if (!marks.delete(id)) marks.add(id)
  return { ...view, marks }
}

export function allToggled(view: View, ids: readonly string[]): View {
  const isAll = ids.length > 0 && ids.every((id) => view.marks.has(id))
  return { ...view, marks: new Set(isAll ? [] : ids) }
}

export function unmarked(view: View, ids: readonly string[]): View {
  const marks = new Set(view.marks)
  for (const id of ids) marks.delete(id)
  return marks.size === view.marks.size ? view : { ...view, marks }
}

/** Another filter: the marks of what it hides would be acted on unseen, so they go; without a filter nothing is hidden. */
export function filtered(view: View, filter: string, { isTaken }: { isTaken: boolean }): View {
  if (filter === view.filter && (!isTaken || filter === view.asked)) return view
  return {
    ...view,
    filter,
    asked: isTaken ? filter : stillAsked(view.asked, filter),
    marks: filter === '' ? view.marks : new Set(),
    top: 0,
    index: 0,
    follows: true,
    open: undefined,
  }
}

/** What the service was asked for, as long as it is asked for still; something else is looked for in what is here. */
function stillAsked(asked: string, filter: string): string {
  const words = new Set(wordsOf(filter))
  return wordsOf(asked).every((word) => words.has(word)) ? asked : ''
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}
