import type { App } from '../app.ts'
import type { SealContext } from '../lib/seal.ts'

type Mail = { id: string; merchantId: string | null }

/** The place that a mail's body is sealed to; it can't be opened elsewhere. */
export function mailBodyContext(mail: Mail): SealContext {
  return mailContext('body', mail)
}

/** The same for its recipient. */
export function recipientContext(mail: Mail): SealContext {
  return mailContext('recipient', mail)
}

function mailContext(column: string, { id, merchantId }: Mail): SealContext {
  return { table: 'mails', column, rowId: id, merchantId: merchantId ?? 'platform' }
}

/** The hash by which the mails to an address or number are found. */
export function recipientHash({ lookupHash }: Pick<App, 'lookupHash'>, recipient: string): Promise<string> {
  return lookupHash('recipient', recipient.toLowerCase())
}
