import type { SealContext } from '../lib/seal.ts'

/** Where a mail's body is sealed to; it opens nowhere else. */
export function mailBodyContext(mail: { id: string; merchantId: string | null }): SealContext {
  return { table: 'mails', column: 'body', rowId: mail.id, merchantId: mail.merchantId ?? 'platform' }
}
