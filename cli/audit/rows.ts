import type { AuditRow } from '../../src/lib/audit-chain.ts'
import { EXPORT_LIMIT_MAX, exportAudit } from '../../src/wire/audit.ts'
import type { AuditChain } from '../../src/wire/audit.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'

/** The rows of a chain, the oldest first, in pages. */
export type RowSource = (chain: AuditChain) => AsyncIterable<readonly AuditRow[]>

export function rowsOfService(client: Client): RowSource {
  return async function* pages(chain) {
    let cursor: string | null = null
    do {
      const query: { chain: AuditChain; limit: number; cursor?: string } = { chain, limit: EXPORT_LIMIT_MAX }
      if (cursor !== null) query.cursor = cursor
      const { body } = await call(client, exportAudit, { query })
      yield body.data
      cursor = body.next_cursor
    } while (cursor !== null)
  }
}
