import type { App } from '../app.ts'
import type { MailRecord } from './record.ts'
import { listMailRows } from './sql.ts'

const LISTED = 50

/** The last mails of the outbox, newest first; optionally those to one address, or without those of one realm. */
export async function listMails(
  app: Pick<App, 'pool'>,
  { recipient, withoutRealm }: { recipient?: string | undefined; withoutRealm?: string | undefined } = {},
): Promise<readonly MailRecord[]> {
  const isPossible = recipient === undefined || !recipient.includes('\u0000')
  return isPossible
    ? listMailRows(app.pool, { recipient: recipient ?? null, withoutRealm: withoutRealm ?? null, rowsMax: LISTED })
    : []
}
