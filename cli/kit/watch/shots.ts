import { recordRows } from '../../output/output.ts'
import type { ListView, Printer, RecordView } from '../../output/output.ts'
import { tableParts } from '../../output/table.ts'

/** A row or a labelled line: what it is the same as next time by, what it says, and how people see it. */
export type Row = { key: string; state: string; lines: readonly string[] }

/** One list or record that a look came to. */
export type Shot = {
  header: readonly string[]
  rows: readonly Row[]
  /** What people read when there is nothing. */
  empty: string
  /** Prints the rows of these keys as JSON lines. */
  printItems(keys: ReadonlySet<string>): void
}

export type Shots = { shots: readonly Shot[]; notes: readonly string[] }

type Look = (print: Printer, note: (text: string) => void) => Promise<unknown>
type ShotOptions = { print: Printer; width: number | undefined }

/** Runs a command, and keeps what it would have printed. @param width what a line has to fit into */
export async function takeShots(options: ShotOptions, look: Look): Promise<Shots> {
  const shots: Shot[] = []
  const notes: string[] = []
  const capture: Printer = {
    ...options.print,
    list: (view) => void shots.push(shotOfList(view, options)),
    record: (view) => void shots.push(shotOfRecord(view, options)),
  }
  await look(capture, (text) => void notes.push(text))
  return { shots, notes }
}

function shotOfList<Item>(view: ListView<Item>, { print, width }: ShotOptions): Shot {
  const { header, rows } = tableParts(view.items, view.columns, { header: print.header, paint: print.paint, width })
  const keyOf = (item: Item, index: number): string => view.id(item) || String(index)
  return {
    header,
    rows: view.items.map((item, index) => ({
      key: keyOf(item, index),
      state: JSON.stringify(item),
      lines: rows[index] ?? [],
    })),
    empty: view.empty,
    printItems: (keys) =>
      print.list({ ...view, items: view.items.filter((item, index) => keys.has(keyOf(item, index))) }),
  }
}

function shotOfRecord<Item>(view: RecordView<Item>, { print, width }: ShotOptions): Shot {
  const labelled = recordRows(view.lines, { paint: print.paint, width }).map(({ label, text, lines }, index) => ({
    key: `${label} ${index}`,
    state: text,
    lines,
  }))
  const below = view.after === undefined ? [] : ['', ...view.after.split('\n')]
  return {
    header: [],
    rows: [...labelled, ...below.map((line, index) => ({ key: `below ${index}`, state: line, lines: [line] }))],
    empty: '',
    printItems: () => print.record(view),
  }
}

export type News = 'new' | 'changed'

/** What the rows of a look have that those of the look before had not; nothing at the first look. */
export function newsOf(before: readonly Shot[] | undefined, now: readonly Shot[]): ReadonlyMap<string, News>[] {
  return now.map(({ rows }, at) => {
    const seen = new Map(before?.[at]?.rows.map(({ key, state }) => [key, state]))
    const news = rows.flatMap(({ key, state }): [string, News][] => {
      if (before === undefined || seen.get(key) === state) return []
      return [[key, seen.has(key) ? 'changed' : 'new']]
    })
    return new Map(news)
  })
}
