import { isAmountText, parseAmount } from '../../src/lib/money.ts'
import { getConsent } from '../../src/wire/consents.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import type { Context } from '../kit/context.ts'
import { CliError } from '../base/errors.ts'
import type { MandateOptions } from './mandate.ts'

type Caps = { amount: string } & Pick<MandateOptions, 'maxAmount' | 'periodic' | 'consent'>

/**
 * Says that a payment which was taken is over a cap of its mandate: where caps are enforced it would have been refused
 * (decision 49). Programs are told nothing, and no failure to find it out is one of the payment.
 */
export async function tellCaps(context: Context, client: Client, caps: Caps): Promise<void> {
  if (context.print.isMachine) return
  if (caps.consent === undefined ? isOverOwn(caps) : await isOverMandate(client, caps.consent, caps.amount))
    context.note("This is over the mandate's caps, which are kept here as they were given, and not enforced.")
}

/** The first payment: its caps were typed beside it. */
function isOverOwn({ amount, maxAmount, periodic = [] }: Caps): boolean {
  const caps = [maxAmount, ...periodic.map((each) => each.split(':')[1])]
  return caps.some((cap) => cap !== undefined && isOver(amount, cap))
}

async function isOverMandate(client: Client, id: string, amount: string): Promise<boolean> {
  try {
    const { body } = await call(client, getConsent, { params: { id } })
    const used = body.allowances.some(({ used_amount: sum, max_amount: cap }) => isOver(sum, cap))
    return !body.caps_enforced && (used || isOver(amount, body.max_amount_per_payment))
  } catch (error) {
    if (error instanceof CliError) return false
    throw error
  }
}

function isOver(amount: string, cap: string): boolean {
  return isAmountText(amount) && isAmountText(cap) && parseAmount(amount) > parseAmount(cap)
}
