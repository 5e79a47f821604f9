import { cutTo, widthOf } from '../base/width.ts'

export type Laid = {
  title: string
  cells: readonly string[]
  /** A shorter form of a cell. */
  short?: ((text: string) => string) | undefined
  /** Whether it may stand in a second line. */
  below?: boolean | undefined
  /** What goes first where there is too little room: 1 before 2. Without a number the column stays. */
  dropped?: number | undefined
  /** To how few columns of the terminal its cells may be cut. */
  least?: number | undefined
  /** How wide it is at least: for what grows and shrinks with the clock, so that the others stay where they are. */
  floor?: number | undefined
  /** Whether it keeps its place although no row has anything in it. */
  stays?: boolean | undefined
}

/** Between two columns. */
export const GAP = '  '
/** Before the second line of a row. */
export const INDENT = '    '

/** The columns of a row's first line, and where it has one of its second. */
export type Fitted<Column> = { first: Column[]; second: Column[] }

/**
 * The columns as they fit into the width of a terminal: those without a value go, then cells are shortened, then a second
 * line is made, then columns dropped, and what is still too long is cut. What can't be made to fit is left to the terminal.
 */
export function fitted<Column extends Laid>(columns: readonly Column[], width: number, sign = '…'): Fitted<Column> {
  if (totalOf(columns) <= width) return { first: [...columns], second: [] }
  let kept = columns.filter(({ cells, stays }) => stays === true || cells.some((text) => text !== ''))
  for (const [index, column] of kept.entries()) {
    const { short } = column
    if (short === undefined || totalOf(kept) <= width) continue
    kept = kept.with(index, { ...column, cells: column.cells.map((text) => short(text)) })
  }
  if (totalOf(kept) <= width) return { first: kept, second: [] }
  return {
    first: cut(
      fewer(
        kept.filter(({ below }) => below !== true),
        width,
      ),
      width,
      sign,
    ),
    second: cut(
      kept.filter(({ below }) => below === true),
      width - INDENT.length,
      sign,
    ),
  }
}

/** Without those that have to go. */
function fewer<Column extends Laid>(columns: readonly Column[], width: number): readonly Column[] {
  if (totalOf(columns, leastOf) <= width) return columns
  const next = Math.min(...columns.map(({ dropped }) => dropped ?? Infinity))
  if (next === Infinity) return columns
  return fewer(
    columns.filter(({ dropped }) => dropped !== next),
    width,
  )
}

export function widthOfColumn({ title, cells, floor = 0 }: Laid): number {
  return Math.max(floor, widthOf(title), ...cells.map((text) => widthOf(text)))
}

function leastOf(column: Laid): number {
  const width = widthOfColumn(column)
  return column.least === undefined
    ? width
    : Math.min(width, Math.max(column.least, column.floor ?? 0, widthOf(column.title)))
}

function totalOf(columns: readonly Laid[], widthIn: (column: Laid) => number = widthOfColumn): number {
  return columns.reduce((sum, column) => sum + widthIn(column) + GAP.length, -GAP.length)
}

/** The widest of those that may be cut is cut first, so that the loss is shared. */
function cut<Column extends Laid>(columns: readonly Column[], width: number, sign: string): Column[] {
  const widths = columns.map((column) => widthOfColumn(column))
  const leasts = columns.map(leastOf)
  for (let over = totalOf(columns) - width; over > 0; over -= 1) {
    const room = widths.map((each, index) => (each > (leasts[index] ?? 0) ? each : 0))
    const widest = room.indexOf(Math.max(...room))
    if ((room[widest] ?? 0) === 0) break
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return columns.map((column, index) => ({
    ...column,
    cells: column.cells.map((text) => cutTo(text, widths[index] ?? 0, sign)),
  }))
}
