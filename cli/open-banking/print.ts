import { z } from 'zod'
import type { Context } from '../kit/context.ts'
import type { Input } from '../kit/command.ts'
import { numberText } from './named-account.ts'
import { collect } from './pages.ts'
import type { OB_PAGING, ObReader } from './pages.ts'
import type { ListView, RecordLines } from '../output/output.ts'
import { stylesOf } from '../output/table.ts'

type Amount = { Amount: string; Currency: string }
export type Side = 'Credit' | 'Debit'

export function amountText({ Amount, Currency }: Amount): string {
  return `${Amount} ${Currency}`
}

/** An amount as people read it: what has gone, or is owed, is below zero. */
export function signed({ Amount }: Amount, side: Side): string {
  return side === 'Debit' && /[1-9]/.test(Amount) ? `-${Amount}` : Amount
}

/** An account with whose it is, where that is known. */
export function accountText({ Identification, Name }: { Identification: string; Name?: string | undefined }): string {
  const text = numberText(Identification)
  return Name === undefined ? text : `${Name} (${text})`
}

export const statusStyle = stylesOf(
  {
    AcceptedSettlementCompleted: 'green',
    AcceptedCreditSettlementCompleted: 'green',
    InitiationCompleted: 'green',
    Paid: 'green',
    Rejected: 'red',
    InitiationFailed: 'red',
    Cancelled: 'magenta',
  },
  'yellow',
)

type Listed<Row> = List<Row> & { id(row: Row): string; empty: string }

type List<Row> = ListView<Row> & {
  fields: z.ZodObject
  /** A member that CSV has no use for, and columns of its own, which stand last. */
  csv?: { without?: string; more: Readonly<Record<string, (row: Row) => string>> }
}

/** Prints a list whose rows have members below members, each of which CSV gives a column of its own. */
export function printList<Row>({ print }: Context, items: readonly Row[], { csv, ...view }: List<Row>): void {
  const isFlat = print.mode === 'csv' && !print.isPartial
  if (!isFlat) return print.list(items, view)
  const more = Object.entries(csv?.more ?? {})
  const rows = items.map((row) => ({
    ...flat(row),
    ...Object.fromEntries(more.map(([name, value]) => [name, value(row)])),
  }))
  const names = leavesOf(view.fields).filter((name) => name !== csv?.without)
  print.list(rows, { columns: [], fields: [...names, ...more.map(([name]) => name)] })
}

/** Prints the pages that the options ask for, and says how the list continues. */
export async function printPages<Row>(
  context: Context,
  paging: Input<typeof OB_PAGING>,
  read: ObReader<Row>,
  view: Listed<Row> | ((items: readonly Row[]) => Listed<Row>),
): Promise<void> {
  const { id } = typeof view === 'function' ? view([]) : view
  const { items, first, last, next } = await collect(paging, id, read)
  const { empty, ...shown } = typeof view === 'function' ? view(items) : view
  // No rows at all, or none so far back.
  const none = first > last ? `There are none on page ${first}: the last page is ${last}.` : empty
  printList(context, items, { ...shown, empty: none })
  if (next !== undefined) context.note(`There are more: --page ${next}, or --all`)
}

export function printRecord({ print }: Context, item: unknown, lines: RecordLines): void {
  const isFlat = print.mode === 'csv' && !print.isPartial
  print.record(isFlat ? flat(item) : item, lines)
}

/** `{ Amount: { Currency: 'GBP' } }` as `{ 'Amount.Currency': 'GBP' }`; lists stay as they are. */
function flat(value: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(Object(value)).flatMap(([name, member]) =>
      typeof member === 'object' && member !== null && !Array.isArray(member)
        ? Object.entries(flat(member)).map(([below, leaf]) => [`${name}.${below}`, leaf])
        : [[name, member]],
    ),
  )
}

/** The columns that any row can have, whatever those of this page have. */
function leavesOf({ shape }: z.ZodObject): string[] {
  return Object.entries(shape).flatMap(([name, member]) => {
    const inner = member instanceof z.ZodOptional ? member.unwrap() : member
    return inner instanceof z.ZodObject ? leavesOf(inner).map((below) => `${name}.${below}`) : [name]
  })
}
