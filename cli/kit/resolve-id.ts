import { isUuid } from '../../src/lib/ids.ts'
import type { Operation, OperationInput } from '../../src/wire/operation.ts'
import { CliError, usageError } from '../base/errors.ts'
import type { Client } from '../client/call.ts'
import { pagesOf } from '../client/pages.ts'
import type { RowOf } from './action.ts'
import { pagesIn } from './paging.ts'

const PART_MIN = 8
const SHOWN_MAX = 5

const LISTS = {
  payment: 'svc payments list',
  delivery: 'svc webhooks list\nof another merchant, as an operator: svc webhooks list --all-merchants',
  "merchant's delivery": 'svc webhooks list --all-merchants',
  "merchant's payment": 'svc payments list --all-merchants',
  dispute: 'svc disputes list',
  'dispute of yours': 'svc disputes list',
  merchant: 'svc merchants list',
  'payment, dispute, delivery, settlement or payout of yours':
    'svc payments list\nsvc disputes list\nsvc webhooks list\nsvc settlements list\nsvc payouts list',
  'merchant, payment, dispute, delivery, settlement or payout':
    'svc merchants list\nsvc payments list --all-merchants\nsvc disputes list\nsvc webhooks list --all-merchants\nsvc payouts list --all-merchants',
  mandate: 'svc payments mandates list',
  'payment of the payer': 'svc payer payments list',
  'mandate of the payer': 'svc payments mandates list --as-payer',
  mail: 'svc sandbox mail list',
  'staff member': 'svc staff list',
  'team member': 'svc team list',
  'unmatched statement line': 'svc statements lines --state unmatched',
  settlement: 'svc settlements list',
  payout: 'svc payouts list',
  'bank account': 'svc payouts accounts list',
  account: 'svc ob accounts',
  'account of the bank': 'svc sandbox accounts',
  'recurring payment': 'svc ob recurring list',
  'request to pay': 'svc ob request-to-pay list',
  'offer to pay': 'svc ob offer-to-pay list',
} as const
export type Noun = keyof typeof LISTS

/**
 * The id that the user means: a whole one as it is, or the only one that begins or ends with 8 characters or more. Ids
 * begin with their time: those of one minute share their first 8 characters, and only their ends differ.
 * @param candidates asked for only when the text is a part; the newest first
 * @throws {CliError} when nothing, or more than one thing, begins or ends like it
 */
export async function resolveId(
  text: string,
  noun: Noun,
  candidates: () => AsyncIterable<string> | Promise<readonly string[]>,
): Promise<string> {
  if (isUuid(text)) return text.toLowerCase()
  const part = text.toLowerCase()
  if (!/^[0-9a-f-]+$/.test(part) || part.length > 36) throw notFound(text, noun)
  if (part.length < PART_MIN)
    throw usageError(`"${text}" is too short for an id: give ${PART_MIN} characters or more`, LISTS[noun])
  const found: string[] = []
  for await (const id of await candidates()) {
    if (id.startsWith(part) || id.endsWith(part)) found.push(id)
    if (found.length > SHOWN_MAX) break
  }
  const [only] = found
  if (only === undefined) throw notFound(text, noun)
  if (found.length > 1)
    throw usageError(`"${text}" is a part of several: ${found.join(', ')}`, `the last ${PART_MIN} characters of the id`)
  return only
}

/** There is no such thing: exit code 6, with the command that shows which there are. */
export function notFound(text: string, noun: Noun): CliError {
  return new CliError('NOT_FOUND', `${noun} not found: ${text}`, { hint: LISTS[noun] })
}

// How far back a thing is looked for in a list: a thousand rows.
const PAGES_MAX = 10

/** The rows of a list, the newest first, as far back as things are looked for by a part of them. */
export async function* rowsIn<O extends Operation>(
  client: Client,
  list: O,
  query?: OperationInput<O>['query'],
): AsyncGenerator<RowOf<O>> {
  const input = query === undefined ? {} : { query }
  for await (const rows of pagesOf(pagesIn(client, list, input), PAGES_MAX)) yield* rows
}

/** Their ids. @param member that has the id */
export async function* idsIn<O extends Operation, Member extends keyof RowOf<O>>(
  client: Client,
  list: O,
  member: Member,
): AsyncGenerator<RowOf<O>[Member]> {
  for await (const row of rowsIn(client, list)) yield row[member]
}
