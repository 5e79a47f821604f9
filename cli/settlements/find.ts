import type { z } from 'zod'
import { getAdminSettlement, getSettlement, listAdminSettlements, listSettlements } from '../../src/wire/settlements.ts'
import type { Settlement } from '../../src/wire/settlements.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { pagesIn } from '../kit/paging.ts'
import { idsIn, resolveId } from '../kit/resolve-id.ts'

type Query = z.input<typeof listAdminSettlements.query>

export function settlementPages(client: Client, isOfAll: boolean, query: Query) {
  return pagesIn(client, isOfAll ? listAdminSettlements : listSettlements, { query })
}

/** A settlement. @throws {CliError} exit code 6 where there is none */
export async function findSettlement(client: Client, given: string, isOfAll: boolean): Promise<Settlement> {
  const id = await resolveId(given, 'settlement', () => settlementIds(client, isOfAll))
  return (await call(client, isOfAll ? getAdminSettlement : getSettlement, { params: { id } })).body
}

export function settlementIds(client: Client, isOfAll: boolean): AsyncGenerator<string> {
  return idsIn(client, isOfAll ? listAdminSettlements : listSettlements, 'settlement_id')
}
