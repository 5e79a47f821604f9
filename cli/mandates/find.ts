import { listConsents } from '../../src/wire/consents.ts'
import { listPayerConsents } from '../../src/wire/payer.ts'
import type { PayerConsent } from '../../src/wire/payer.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { idsIn, resolveId } from '../kit/resolve-id.ts'

/** The merchant's mandate that a text means: a whole id, or its beginning or end. @throws {CliError} when it means none */
export function mandateId(client: Client, given: string): Promise<string> {
  return resolveId(given, 'mandate', () => idsIn(client, listConsents, 'consent_id'))
}

export function payerMandateId(payer: Client, given: string): Promise<string> {
  return resolveId(given, 'mandate of the payer', async () =>
    (await payerMandates(payer)).map((each) => each.consent_id),
  )
}

export async function payerMandates(payer: Client): Promise<PayerConsent[]> {
  return (await call(payer, listPayerConsents, {})).body.data
}
