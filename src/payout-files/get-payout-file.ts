import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { payoutFileContext } from './create-payout-file.ts'
import type { PayoutFileContent } from './record.ts'
import { findPayoutFile } from './sql.ts'

/**
 * A file of payouts with the bytes that it was written with. In the audit trail, as it has the numbers of bank accounts.
 * @throws {DomainError} PAYOUT_FILE_NOT_FOUND
 */
export async function getPayoutFile(
  app: Pick<App, 'pool' | 'ids' | 'sealer'>,
  { id, actor }: { id: string; actor: Actor },
): Promise<PayoutFileContent> {
  return app.pool.transaction(async (tx) => {
    const file = isUuid(id) ? await findPayoutFile(tx, id) : null
    if (file === null) throw payoutFileNotFound('payout file not found')
    await recordAction(app, tx, { actor, action: 'payout_file.read', merchantId: null, subjectId: id })
    return { ...file, content: app.sealer.open(file.content, payoutFileContext(id)) }
  })
}

export function payoutFileNotFound(message: string): DomainError {
  return new DomainError('PAYOUT_FILE_NOT_FOUND', message)
}
