import { PayerConsent, listPayerConsents, revokePayerConsent } from '../../src/wire/payer.ts'
import { asPayer } from '../client/auth/payer-session.ts'
import type { ChangeOptions } from '../kit/change.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { endMandate } from '../mandates/end-mandate.ts'
import { resolveId } from '../kit/resolve-id.ts'
import { dayOf, endOfId, shortTime } from '../base/text.ts'

export async function listConsents(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  const items = await consentsOf(asPayer(context.client(), context.io.env))
  context.print.list({
    items,
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

async function consentsOf(payer: Client): Promise<PayerConsent[]> {
  return (await call(payer, listPayerConsents, {})).body.data
}

export async function cancelConsent(
  context: Context,
  { args, options }: CommandInput<ChangeOptions>,
): Promise<CommandResult> {
  const [given = ''] = args
  const payer = asPayer(context.client(), context.io.env)
  const id = await resolveId(given, 'mandate of the payer', async function* ids() {
    for (const { consent_id: each } of await consentsOf(payer)) yield each
  })
  return endMandate(context, payer, revokePayerConsent, { id, given, verb: 'cancel', options })
}
