import { request } from 'undici'
import { completeSca } from '../../src/wire/payments.ts'
import type { ScaComplete } from '../../src/wire/payments.ts'
import { CliError, usageError } from '../base/errors.ts'
import { call, signalOf } from './call.ts'
import type { Client } from './call.ts'
import { REDIRECTING_PAGE, visitModelBank } from './model-bank.ts'
import { unreachable } from './unreachable.ts'

export type Decision = 'approve' | 'cancel'

type AtBank = { payment_id: string; redirect_url: string | null }

export type Visit = {
  decision: Decision
  /** Number or id of the account at the mock bank that pays; one elsewhere when not given. */
  account?: string | undefined
  /** Goes the bank's full login before it decides; straight to the buttons when not given. */
  login?: BankLogin | undefined
}

type PayerActs = {
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
 * Decides at the mock bank, or at the model bank, and stops there: the service does not know yet.
 * @returns what the bank sends the payer back with; undefined where it sends the payer nowhere
 * @throws {CliError} exit code 2 for a payment that is not at the mock bank, or an account that can't pay
 */
export async function visitMockBank(client: Client, payment: AtBank, visit: Visit): Promise<ScaComplete | undefined> {
  const page = payment.redirect_url
  const { decision, account, login } = visit
  const form = account === undefined ? { decision } : { decision, account }
  if (page !== null && new URL(page).pathname === REDIRECTING_PAGE)
    return readReturn(await visitModelBank(page, form, signalOf(client)))
  if (page === null || !MOCK_BANK_PAGES.has(new URL(page).pathname)) {
    throw usageError(`--${visit.decision} plays the payer at the mock bank, and this payment is not at the mock bank`)
  }
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

function readReturn(back: URL): ScaComplete {
  const state = back.searchParams.get('state')
  const code = back.searchParams.get('code')
  const error = back.searchParams.get('error')
  const description = back.searchParams.get('error_description')
  if (state !== null && code !== null) return { state, code }
  if (state !== null && error !== null)
    return { state, error, ...(description === null ? {} : { error_description: description }) }
  throw new CliError('MOCK_BANK_FAILED', 'the mock bank sent the payer back without an answer')
}

/** What a payer types at the mock bank's full login; what it always takes where nothing is said (decision 44). */
export type BankLogin = {
  /** Or the name of a scenario, which the payment then takes. */
  username?: string | undefined
  password?: string | undefined
  /** One-time codes, typed one after the other until one is taken. */
  codes?: readonly string[] | undefined
}

const USUAL = { username: 'payer', password: 'mock-password', codes: ['123456'] } as const

/** Where the login has led: to the page with the buttons, or back already, for too many codes were wrong. */
type SignedIn = { page: string; login: string } | { sentBack: BankAnswer }

/**
 * Goes the mock bank's full login, up to the page where the payer decides.
 * @throws {CliError} MOCK_BANK_LOGIN_REFUSED with the page's status where what was typed is wrong
 */
async function signInAtBank(client: Client, redirectUrl: string, typed: BankLogin): Promise<SignedIn> {
  const page = redirectUrl.replace('/redirect-stub?', '/dev/mock-bank-sca?')
  const { username = USUAL.username, password = USUAL.password, codes = USUAL.codes } = typed
  const first = await postToBank(client, page, { username, password })
  const proven = loginIn(first)
  let last: BankAnswer | undefined
  for (const code of codes) {
    const answer = await postToBank(client, page, { login: proven, code })
    if (answer.location !== undefined) return { sentBack: answer }
    if (answer.status === 200) return { page, login: loginIn(answer) }
    last = answer
  }
  throw last === undefined ? mockBankFailed(first.status) : refused(last)
}

/** What was proven so far stands in the next page's form, signed by the bank. */
function loginIn(answer: BankAnswer): string {
  if (answer.status === 400) throw refused(answer)
  const login = /name="login" value="([\w.-]+)"/.exec(answer.html)?.[1]
  if (answer.status !== 200 || login === undefined) throw mockBankFailed(answer.status)
  return login
}

function refused({ status, html, problem }: BankAnswer): CliError {
  const said = problem ?? /role="alert">([^<]+)</.exec(html)?.[1] ?? 'it does not say why'
  return new CliError('MOCK_BANK_LOGIN_REFUSED', `the mock bank rejects the login: ${said}`, {
    status,
  })
}

type BankAnswer = {
  status: number
  location: string | undefined
  problem: string | undefined
  html: string
}

async function postToBank(client: Client, page: string, form: Readonly<Record<string, string>>): Promise<BankAnswer> {
  const fail = (error: unknown): never => {
    throw unreachable(client, error)
  }
  const answer = await request(page, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
    dispatcher: client.dispatcher,
    signal: signalOf(client),
  }).catch(fail)
  const html = await answer.body.text().catch(fail)
  const { location, 'x-problem': problem } = answer.headers
  return { status: answer.statusCode, location: oneText(location), problem: oneText(problem), html }
}

function oneText(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function mockBankFailed(status: number): CliError {
  return new CliError('MOCK_BANK_FAILED', `the mock bank answered ${status} and sent the payer nowhere`, {
    status,
  })
}
