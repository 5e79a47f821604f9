import { request } from 'undici'
import { signalOf } from '../call.ts'
import type { Client } from '../call.ts'
import { CliError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { unreachable } from '../unreachable.ts'

/** What a page of the mock bank answered a form. */
export type BankAnswer = {
  status: number
  /** Where it sends the payer. */
  location: string | undefined
  /** The rule that is broken, for programs. */
  problem: string | undefined
  html: string
}

/** Sends one form to a page of the mock bank, as the payer's browser does; redirects are not followed. */
export async function postToBank(
  client: Client,
  page: string,
  form: Readonly<Record<string, string>>,
): Promise<BankAnswer> {
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

/** An answer that leads the payer nowhere. */
export function mockBankFailed(status: number): CliError {
  return new CliError('MOCK_BANK_FAILED', `the mock bank answered ${status} and sent the payer nowhere`, {
    exit: EXIT.failure,
    status,
  })
}
