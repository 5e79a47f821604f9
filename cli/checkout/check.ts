import { getCheckout } from '../../src/wire/checkout.ts'
import type { Checkout } from '../../src/wire/checkout.ts'
import { withCheckoutToken } from '../client/auth/credentials.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import type { CommandResult, Context } from '../kit/context.ts'
import { printable, shortTime } from '../base/text.ts'
import { distanceOf } from '../base/times.ts'
import { membersOf, textOr } from '../client/error-hints.ts'
import type { Typed } from './next-steps.ts'
import { refusedDecoded, refusedMade } from './refused-token.ts'

type Checked = {
  token: string
  content: unknown
  /** The flags that it was made of; undefined for one that exists. */
  typed?: Typed
}

/**
 * Asks the service what it makes of a token, as the widget does before it shows anything.
 * @throws {CliError} as the service refuses it, with the exit code of that
 */
export async function checkToken(
  context: Context,
  client: Client,
  { token, content, typed }: Checked,
): Promise<CommandResult> {
  const { body } = await call(withCheckoutToken(client, token), getCheckout, {}).catch((error: unknown) => {
    throw typed === undefined ? refusedDecoded(error, content) : refusedMade(error, typed)
  })
  context.print.record({ item: { token, checkout: body }, id: token, lines: linesOf(body) })
  if (context.print.isMachine) return undefined
  const name = textOr(membersOf(content)['merchantName'], body.merchant_name)
  if (name !== body.merchant_name)
    context.note(`Payers see "${body.merchant_name}", the trading name, and not "${printable(name)}".`)
  context.note('The service takes this token.')
  return undefined
}

function linesOf(checkout: Checkout): [string, string][] {
  const { expires_at: end, branding } = checkout
  return [
    ['Merchant', `${checkout.merchant_name} (${checkout.merchant_client_id})`],
    ['Amount', `${checkout.amount} ${checkout.currency}`],
    ['Order', checkout.is_paid ? 'paid already, or its money is on the way' : ''],
    ['Payer', checkout.payer_name ?? ''],
    ['Reference', checkout.remittance_reference ?? ''],
    ['Account', checkout.is_fast_path ? 'named: the payer chooses no bank' : ''],
    ['Shown on', checkout.callback_origin],
    ['Then to', checkout.return_url],
    ['Until', end === null ? '' : `${shortTime(end)} (${distanceOf(end)})`],
    ['Mode', checkout.mode],
    ['Look', `${branding.colors.primary} on ${branding.colors.background}, ${branding.font}`],
  ]
}
