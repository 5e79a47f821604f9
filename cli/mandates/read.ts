import type { z } from 'zod'
import { Mandate, getConsent, listConsents } from '../../src/wire/consents.ts'
import { ConsentStatus } from '../../src/wire/payments.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import type { Style } from '../base/io.ts'
import { collectPages, rowsOf } from '../client/pages.ts'
import type { PageReader } from '../client/pages.ts'
import { resolveId } from '../kit/resolve-id.ts'
import { dayOf, endOfId, shortTime } from '../base/text.ts'
import { printMandate } from './view.ts'
import { Paging } from '../kit/paging.ts'

export const ListOptions = Paging.extend({ status: ConsentStatus.optional() })

// How far back a short id is looked for: the last thousand mandates.
const PART_PAGES_MAX = 10

export async function list(
  context: Context,
  { options }: CommandInput<z.infer<typeof ListOptions>>,
): Promise<CommandResult> {
  const { status } = options
  const read = reader(context.client(), status === undefined ? {} : { status })
  const { items, nextCursor } = await collectPages(options, read)
  context.print.list({
    items,
    fields: Object.keys(Mandate.shape),
    columns: [
      { title: 'id', value: (row) => row.consent_id, short: endOfId },
      { title: 'status', value: (row) => row.status, style: consentStyle },
      { title: 'at most', value: (row) => row.max_amount_per_payment, align: 'right' },
      { title: 'cur', value: (row) => row.currency },
      { title: 'payments', value: (row) => String(row.payment_count), align: 'right', dropped: 1 },
      { title: 'payer name', value: (row) => row.payer_name ?? '', least: 12, dropped: 2 },
      { title: 'valid to', value: (row) => shortTime(row.valid_to), short: dayOf },
    ],
    id: (row) => row.consent_id,
    empty: 'There are no such mandates.',
  })
  if (nextCursor !== null) context.note(`There are more: --cursor ${nextCursor}, or --all`)
  return undefined
}

/** How a consent's status looks: what can be used in green, what never can be again in red. */
function consentStyle(status: string): Style | undefined {
  if (status === 'AUTHORISED') return 'green'
  return status === 'AWAITING_AUTHORISATION' ? 'yellow' : 'red'
}

function reader(client: Client, filter: { status?: z.infer<typeof ConsentStatus> }): PageReader<Mandate> {
  return async (page) => (await call(client, listConsents, { query: { ...page, ...filter } })).body
}

/** The mandate that a text means: a whole id, or its beginning or end. @throws {CliError} when it means none */
export async function mandateId(client: Client, given: string | undefined): Promise<string> {
  if (given === undefined) throw usageError('which mandate? Its id is missing', 'svc mandates list')
  return resolveId(given, 'mandate', async function* ids() {
    for await (const { consent_id: id } of rowsOf(reader(client, {}), PART_PAGES_MAX)) yield id
  })
}

export async function show(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const client = context.client()
  const { body } = await call(client, getConsent, { params: { id: await mandateId(client, args[0]) } })
  printMandate(context, body)
  return undefined
}
