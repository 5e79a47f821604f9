import type { App } from '../app.ts'
import { keyOfCursor, pageOf } from '../lib/cursor.ts'
import { isUuid } from '../lib/ids.ts'
import type { ConsentStatus } from '../wire/payments.ts'
import { readAllowances } from './allowances.ts'
import type { MandateWithAllowances } from './record.ts'
import type { PayerContactHash } from './record.ts'
import { listMandateRows, listMandatesOfContact } from './sql.ts'

/**
 * A page of a merchant's mandates, the newest first; the cursor names the last one of the page before.
 * @throws {DomainError} VALIDATION_FAILED at `cursor`
 */
export async function listConsents(
  app: Pick<App, 'pool'>,
  { merchantId, status, limit, cursor }: ListConsentsInput,
): Promise<{ mandates: readonly MandateWithAllowances[]; nextCursor: string | null }> {
  const afterId = cursor === undefined ? undefined : keyOfCursor(cursor, isUuid)
  const found = await listMandateRows(app.pool, { merchantId, status, limit, afterId })
  const { rows, nextCursor } = pageOf(found, limit, ({ id }) => id)
  return { mandates: await readAllowances(app.pool, rows), nextCursor }
}

export type ListConsentsInput = {
  merchantId: string
  status: ConsentStatus | undefined
  limit: number
  cursor: string | undefined
}

/** The active mandates of a payer, by the contact that the session verified, with every merchant (decision 41). */
export async function listMandatesOfPayer(
  app: Pick<App, 'pool'>,
  { contact, limit }: { contact: PayerContactHash; limit: number },
): Promise<readonly MandateWithAllowances[]> {
  return readAllowances(app.pool, await listMandatesOfContact(app.pool, { contact, limit }))
}
