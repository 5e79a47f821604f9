import { z } from 'zod'
import type { Context } from '../kit/context.ts'
import type { Style } from '../base/io.ts'
import { numberText } from './named-account.ts'
import type { ListView, RecordView } from '../output/output.ts'

/** How the Open Banking API writes money, and which way it went. */
type Amount = { Amount: string; Currency: string }
export type Side = 'Credit' | 'Debit'

export function moneyText({ Amount, Currency }: Amount): string {
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

const STYLES: Readonly<Record<string, Style>> = {
  AcceptedSettlementCompleted: 'green',
  AcceptedCreditSettlementCompleted: 'green',
  InitiationCompleted: 'green',
  Paid: 'green',
  Rejected: 'red',
  InitiationFailed: 'red',
  Cancelled: 'magenta',
}

/** How a status of this API looks: an end in green or red, a way still to go in yellow. */
export function statusStyle(status: string): Style {
  return STYLES[status] ?? 'yellow'
}

type List<Row> = Omit<ListView<Row>, 'fields'> & {
  schema: z.ZodObject
  /** A member that CSV has no use for, and columns of its own, which stand last. */
  csv?: { without?: string; more: Readonly<Record<string, (row: Row) => string>> }
}

/** Prints a list whose rows have members below members, each of which CSV gives a column of its own. */
export function printList<Row>({ print }: Context, { schema, csv, ...view }: List<Row>): void {
  const isFlat = print.mode === 'csv' && !print.isPartial
  if (!isFlat) return print.list({ ...view, fields: Object.keys(schema.shape) })
  const more = Object.entries(csv?.more ?? {})
  const items = view.items.map((row) => ({
    ...flat(row),
    ...Object.fromEntries(more.map(([name, value]) => [name, value(row)])),
  }))
  const fields = [...leavesOf(schema).filter((name) => name !== csv?.without), ...more.map(([name]) => name)]
  print.list({ ...view, id: () => '', columns: [], items, fields })
}

export function printRecord<Item>({ print }: Context, view: RecordView<Item>): void {
  const isFlat = print.mode === 'csv' && !print.isPartial
  if (isFlat) print.record({ ...view, item: flat(view.item) })
  else print.record(view)
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
