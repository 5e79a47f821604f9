import type { App } from '../app.ts'
import type { MailRecord, MailRow } from './record.ts'
import { recipientContext, recipientHash } from './seal-context.ts'
import { listMailRows } from './sql.ts'

const LISTED = 50

/** The last mails of the outbox, newest first; optionally those to one address, or without those of one realm. */
export async function listMails(
  app: Pick<App, 'pool' | 'sealer' | 'lookupHash'>,
  { recipient, withoutRealm }: { recipient?: string | undefined; withoutRealm?: string | undefined } = {},
): Promise<readonly MailRecord[]> {
  const rows = await listMailRows(app.pool, {
    recipientHash: recipient === undefined ? null : await recipientHash(app, recipient),
    withoutRealm: withoutRealm ?? null,
    rowsMax: LISTED,
  })
  return rows.map((row) => openMail(app, row))
}

/** A mail as its readers see it. */
export function openMail({ sealer }: Pick<App, 'sealer'>, row: MailRow): MailRecord {
  const { merchant_id: merchantId, realm: _realm, ...record } = row
  return { ...record, recipient: sealer.open(row.recipient, recipientContext({ id: row.id, merchantId })) }
}
