import { listConsents } from '../../src/wire/consents.ts'
import { listPayerConsents } from '../../src/wire/payer.ts'
import type { PayerConsent } from '../../src/wire/payer.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { rowsOf } from '../client/pages.ts'
import { resolveId } from '../kit/resolve-id.ts'

// How far back a part of an id is looked for: the last thousand mandates.
const PAGES_MAX = 10

/** The merchant's mandate that a text means: a whole id, or its beginning or end. @throws {CliError} when it means none */
export function mandateId(client: Client, given: string): Promise<string> {
  return resolveId(given, 'mandate', () =>
    idsOf(rowsOf(async (query) => (await call(client, listConsents, { query })).body, PAGES_MAX)),
  )
}

/** The same of the payer's. */
export function payerMandateId(payer: Client, given: string): Promise<string> {
  return resolveId(given, 'mandate of the payer', async function* ids() {
    yield* idsOf(await payerMandates(payer))
  })
}

/** Those that the payer can end. */
export async function payerMandates(payer: Client): Promise<PayerConsent[]> {
  return (await call(payer, listPayerConsents, {})).body.data
}

async function* idsOf(
  rows: Iterable<{ consent_id: string }> | AsyncIterable<{ consent_id: string }>,
): AsyncGenerator<string> {
  for await (const { consent_id: id } of rows) yield id
}
