import { request } from 'undici'
import { completeSca } from '../src/wire/payments.ts'
import type { ScaComplete } from '../src/wire/payments.ts'
import { call, signalOf } from './client.ts'
import type { Client } from './client.ts'
import { CliError, usageError } from './errors.ts'
import { EXIT } from './exit-codes.ts'
import { unreachable } from './unreachable.ts'

export type Decision = 'approve' | 'cancel'

const MOCK_BANK_PAGES = new Set(['/redirect-stub', '/dev/mock-bank-sca'])

/**
 * Acts as the payer at the mock bank: presses the button on its page, and brings what it is sent back with to the
 * service, as the merchant's return page would (decision 53). In some scenarios the payer is not sent back: stranded.
 * @param account number or id of the account at the mock bank that pays; one elsewhere when not given
 */
export async function actAsPayer(
  client: Client,
  payment: { payment_id: string; redirect_url: string | null },
  decision: Decision,
  account?: string,
): Promise<'returned' | 'stranded'> {
  const page = payment.redirect_url
  if (page === null || !MOCK_BANK_PAGES.has(new URL(page).pathname)) {
    throw usageError(`--${decision} plays the payer at the mock bank, and this payment is not at the mock bank`)
  }
  const back = await pressButton(client, page, account === undefined ? { decision } : { decision, account })
  if (back === undefined) return 'stranded'
  await call(client, completeSca, { params: { id: payment.payment_id }, body: readReturn(back) })
  return 'returned'
}

async function pressButton(
  client: Client,
  page: string,
  form: { decision: Decision; account?: string },
): Promise<URL | undefined> {
  const answer = await request(page, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
    dispatcher: client.dispatcher,
    signal: signalOf(client),
  }).catch((error: unknown) => {
    throw unreachable(client, error)
  })
  await answer.body.dump()
  const { location } = answer.headers
  if (answer.statusCode === 200) return undefined
  if (answer.statusCode === 400 && form.account !== undefined) {
    throw usageError(
      `--from-account: the mock bank takes no money for this payment from ${form.account}: ${problemOf(answer.headers)}`,
    )
  }
  if (answer.statusCode < 300 || answer.statusCode > 399 || typeof location !== 'string') {
    throw new CliError('MOCK_BANK_FAILED', `the mock bank answered ${answer.statusCode} and sent the payer nowhere`, {
      exit: EXIT.failure,
      status: answer.statusCode,
    })
  }
  return new URL(location, page)
}

/** The rule that the bank's page says is broken. */
function problemOf(headers: Readonly<Record<string, string | string[] | undefined>>): string {
  const problem = headers['x-problem']
  return typeof problem === 'string' ? problem : 'it does not say why'
}

/** The body of sca-complete from the address that the bank sends the payer back to (decision 15). */
function readReturn(back: URL): ScaComplete {
  const state = back.searchParams.get('state')
  const code = back.searchParams.get('code')
  const error = back.searchParams.get('error')
  const description = back.searchParams.get('error_description')
  if (state !== null && code !== null) return { state, code }
  if (state !== null && error !== null)
    return { state, error, ...(description === null ? {} : { error_description: description }) }
  throw new CliError('MOCK_BANK_FAILED', 'the mock bank sent the payer back without an answer', { exit: EXIT.failure })
}
