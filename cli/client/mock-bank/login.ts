import { CliError } from '../../base/errors.ts'
import type { Client } from '../call.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { mockBankFailed, postToBank } from './form.ts'
import type { BankAnswer } from './form.ts'

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
export type SignedIn = { page: string; login: string } | { sentBack: BankAnswer }

/**
 * Goes the mock bank's full login, up to the page where the payer decides.
 * @throws {CliError} MOCK_BANK_LOGIN_REFUSED with the page's status where what was typed is wrong
 */
export async function signInAtBank(client: Client, redirectUrl: string, typed: BankLogin): Promise<SignedIn> {
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
  return new CliError('MOCK_BANK_LOGIN_REFUSED', `the mock bank lets nobody in: ${said}`, {
    exit: EXIT.failure,
    status,
  })
}
