import { completeSca } from '../../../src/wire/payments.ts'
import type { ScaComplete } from '../../../src/wire/payments.ts'
import { call } from '../call.ts'
import type { Client } from '../call.ts'
import { CliError, usageError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { mockBankFailed, postToBank } from './form.ts'
import type { BankAnswer } from './form.ts'
import { signInAtBank } from './login.ts'
import type { BankLogin } from './login.ts'

export type Decision = 'approve' | 'cancel'

/** A payment as far as its payer has to know it. */
type AtBank = { payment_id: string; redirect_url: string | null }

export type Visit = {
  decision: Decision
  /** Number or id of the account at the mock bank that pays; one elsewhere when not given. */
  account?: string | undefined
  /** Goes the bank's full login before it decides; straight to the buttons when not given. */
  login?: BankLogin | undefined
}

export type PayerActs = {
  /** Number or id of the account at the mock bank that pays; one elsewhere when not given. */
  account?: string | undefined
  /** False for a payer who closes the browser once it is decided; true when not given. */
  returns?: boolean | undefined
}

const MOCK_BANK_PAGES = new Set(['/redirect-stub', '/dev/mock-bank-sca'])

/**
 * Acts as the payer at the mock bank: presses the button on its page, and brings what it is sent back with to the
 * service, as the merchant's return page would (decision 53). In some scenarios the payer is not sent back: stranded.
 */
export async function actAsPayer(
  client: Client,
  payment: AtBank,
  decision: Decision,
  { account, returns = true }: PayerActs = {},
): Promise<'returned' | 'stranded'> {
  const back = await visitMockBank(client, payment, { decision, account })
  if (back === undefined || !returns) return 'stranded'
  await call(client, completeSca, { params: { id: payment.payment_id }, body: back })
  return 'returned'
}

/**
 * Decides at the mock bank, and stops there: nobody has told the service yet.
 * @returns what the bank sends the payer back with; undefined where it sends the payer nowhere
 * @throws {CliError} exit code 2 for a payment that is not at the mock bank, or an account that can't pay
 */
export async function visitMockBank(client: Client, payment: AtBank, visit: Visit): Promise<ScaComplete | undefined> {
  const page = payment.redirect_url
  if (page === null || !MOCK_BANK_PAGES.has(new URL(page).pathname)) {
    throw usageError(`--${visit.decision} plays the payer at the mock bank, and this payment is not at the mock bank`)
  }
  const { decision, account, login } = visit
  const form = account === undefined ? { decision } : { decision, account }
  if (login === undefined) return returnOf(await postToBank(client, page, form), page, account)
  const signedIn = await signInAtBank(client, page, login)
  if ('sentBack' in signedIn) return returnOf(signedIn.sentBack, page, account)
  const answer = await postToBank(client, signedIn.page, { ...form, login: signedIn.login })
  return returnOf(answer, page, account)
}

function returnOf(answer: BankAnswer, page: string, account: string | undefined): ScaComplete | undefined {
  const { status, location, problem } = answer
  if (status === 200) return undefined
  if (status === 400 && account !== undefined) {
    throw usageError(
      `--from-account: the mock bank takes no money for this payment from ${account}: ${problem ?? 'it does not say why'}`,
    )
  }
  if (status < 300 || status > 399 || location === undefined) throw mockBankFailed(status)
  return readReturn(new URL(location, page))
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
