import type { z } from 'zod'
import { getAdminSettlement, getSettlement, listAdminSettlements, listSettlements } from '../../src/wire/settlements.ts'
import type { Settlement } from '../../src/wire/settlements.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { rowsOf } from '../client/pages.ts'
import { resolveId } from '../kit/resolve-id.ts'

// How far back a part of an id is looked for.
const PAGES_MAX = 10

type Query = z.input<typeof listAdminSettlements.query>

/** A page of settlements: the merchant's own, or for operators of all or of one. */
export async function settlementPage(client: Client, isOfAll: boolean, query: Query) {
  return (await call(client, isOfAll ? listAdminSettlements : listSettlements, { query })).body
}

/** A settlement. @throws {CliError} exit code 6 where there is none */
export async function findSettlement(client: Client, given: string, isOfAll: boolean): Promise<Settlement> {
  const id = await resolveId(given, 'settlement', () => settlementIds(client, isOfAll))
  return (await call(client, isOfAll ? getAdminSettlement : getSettlement, { params: { id } })).body
}

/** Ids of settlements, the last period first. */
export async function* settlementIds(client: Client, isOfAll: boolean): AsyncGenerator<string> {
  const pages = rowsOf((query) => settlementPage(client, isOfAll, query), PAGES_MAX)
  for await (const { settlement_id } of pages) yield settlement_id
}
