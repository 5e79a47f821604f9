import { z } from 'zod'
import { Mandate, getConsent, listConsents } from '../../src/wire/consents.ts'
import { PayerConsent } from '../../src/wire/payer.ts'
import { ConsentStatus } from '../../src/wire/payments.ts'
import { asPayer } from '../client/auth/payer-session.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import type { Style } from '../base/io.ts'
import { collectPages } from '../client/pages.ts'
import type { PageReader } from '../client/pages.ts'
import { dayOf, endOfId, shortTime } from '../base/text.ts'
import { mandateId, payerMandates } from './find.ts'
import { printMandate } from './view.ts'
import { Paging } from '../kit/paging.ts'

export const ListOptions = Paging.extend({ status: ConsentStatus.optional(), asPayer: z.boolean().default(false) })

export async function list(
  context: Context,
  { options }: CommandInput<z.infer<typeof ListOptions>>,
): Promise<CommandResult> {
  const { status, asPayer: isPayer } = options
  if (isPayer) return listOfPayer(context)
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

/** Those that the payer who is signed in can end: all of them, on one page. */
async function listOfPayer(context: Context): Promise<CommandResult> {
  context.print.list({
    items: await payerMandates(asPayer(context.client(), context.io.env)),
    fields: Object.keys(PayerConsent.shape),
    columns: [
      { title: 'id', value: (row) => row.consent_id, short: endOfId },
      { title: 'merchant', value: (row) => row.merchant_name, least: 12 },
      { title: 'at most', value: (row) => row.max_amount_per_payment, align: 'right' },
      { title: 'cur', value: (row) => row.currency },
      { title: 'left', value: leftOf, least: 14, dropped: 2 },
      { title: 'payments', value: (row) => String(row.payment_count), align: 'right', dropped: 1 },
      { title: 'valid to', value: (row) => shortTime(row.valid_to), short: dayOf },
    ],
    id: (row) => row.consent_id,
    empty: 'There are no mandates.',
  })
  return undefined
}

/** What may still be taken in each period, where that is watched over (decision 49). */
function leftOf({ allowances, caps_enforced: isEnforced }: PayerConsent): string {
  if (!isEnforced) return allowances.length === 0 ? '' : 'not enforced'
  return allowances.map(({ period, remaining_amount: left }) => `${left} this ${period.toLowerCase()}`).join(', ')
}

/** How a consent's status looks: what can be used in green, what never can be again in red. */
function consentStyle(status: string): Style | undefined {
  if (status === 'AUTHORISED') return 'green'
  return status === 'AWAITING_AUTHORISATION' ? 'yellow' : 'red'
}

function reader(client: Client, filter: { status?: z.infer<typeof ConsentStatus> }): PageReader<Mandate> {
  return async (page) => (await call(client, listConsents, { query: { ...page, ...filter } })).body
}

export async function show(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const client = context.client()
  const { body } = await call(client, getConsent, { params: { id: await mandateId(client, args[0] ?? '') } })
  printMandate(context, body)
  return undefined
}
