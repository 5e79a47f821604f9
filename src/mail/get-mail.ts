import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { openMail } from './list-mails.ts'
import type { MailRecord } from './record.ts'
import { mailBodyContext } from './seal-context.ts'
import { findMail } from './sql.ts'

/**
 * A mail of the sandbox's outbox with its text and the links in it.
 * @param options `withoutRealm`: the realm whose mails the caller may not see
 * @throws {DomainError} MAIL_NOT_FOUND
 */
export async function getMail(
  app: Pick<App, 'pool' | 'sealer'>,
  id: string,
  { withoutRealm }: { withoutRealm?: string | undefined } = {},
): Promise<MailRecord & { body: string; links: string[] }> {
  const mail = isUuid(id) ? await findMail(app.pool, id) : null
  if (mail === null || mail.realm === withoutRealm) throw new DomainError('MAIL_NOT_FOUND', 'there is no such mail')
  const { body: sealed, ...row } = mail
  // Keycloak's own mails have none here. Live mode deletes bodies, and there mails can't be read.
  const body =
    sealed === null ? '' : app.sealer.open(sealed, mailBodyContext({ id: mail.id, merchantId: mail.merchant_id }))
  return { ...openMail(app, row), body, links: linksIn(body) }
}

const LINK = /https?:\/\/[^\s<>"']+/g

/** Trailing punctuation of a sentence does not belong to a link. */
function linksIn(text: string): string[] {
  return [...text.matchAll(LINK)].map(([link]) => link.replace(/[).,;:!?]+$/, ''))
}
