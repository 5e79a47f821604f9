import type { SealContext } from '../lib/seal.ts'

/** The place that a mail's body is sealed to; it can't be opened elsewhere. */
export function mailBodyContext(mail: { id: string; merchantId: string | null }): SealContext {
  return { table: 'mails', column: 'body', rowId: mail.id, merchantId: mail.merchantId ?? 'platform' }
}
