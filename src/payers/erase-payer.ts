import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { recipientHash } from '../mail/seal-context.ts'
import type { ErasedPayer } from '../wire/erasure.ts'
import type { PayerContact } from '../wire/payer.ts'
import { contactOf } from './contact.ts'
import { deleteMessages, eraseConsents } from './erase-sql.ts'

export type ErasePayerInput = { contact: PayerContact; reason: string; actor: Actor }

/**
 * Erases what names a payer, over all merchants (decision 371). The audit trail says that it was done and why, and not to
 * whom: its rows can't be erased.
 * @throws {DomainError} VALIDATION_FAILED at `phone`
 */
export async function erasePayer(
  app: Pick<App, 'pool' | 'ids' | 'lookupHash'>,
  { contact: given, reason, actor }: ErasePayerInput,
): Promise<ErasedPayer> {
  const contact = await contactOf(app, given)
  const sentTo = await recipientHash(app, contact.value)
  const id = app.ids.uuid()
  return app.pool.transaction(async (tx) => {
    const { payments, ...counts } = await eraseConsents(tx, contact)
    const erased = { ...counts, messages: await deleteMessages(tx, { contact, sentTo, payments }) }
    await recordAction(app, tx, {
      actor,
      action: 'payer.erase',
      merchantId: null,
      subjectId: id,
      reason,
      after: erased,
    })
    return { erasure_id: id, ...erased }
  })
}
