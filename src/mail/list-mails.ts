import type { App } from '../app.ts'
import type { MailRecord } from './record.ts'
import { listMailRows } from './sql.ts'

const LISTED = 50

/** The last mails of the outbox, the newest first; those to one address where one is given. */
export async function listMails(
  app: Pick<App, 'pool'>,
  { recipient }: { recipient?: string | undefined } = {},
): Promise<readonly MailRecord[]> {
  const isPossible = recipient === undefined || !recipient.includes('\u0000')
  return isPossible ? listMailRows(app.pool, { recipient: recipient ?? null, rowsMax: LISTED }) : []
}
