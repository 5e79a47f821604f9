import type { CommonQueryMethods } from 'slonik'
import type { App } from '../app.ts'
import { mailBodyContext } from './seal-context.ts'
import { insertMail } from './sql.ts'

/** A plain-text mail. Only the body is a secret: what stands in the subject may be logged. */
export type NewMail = {
  /** The merchant that it is about; null for the platform's own. */
  merchantId: string | null
  /** The realm that its links open doors of. */
  realm: string
  /** What it is for, such as `invite`. */
  kind: string
  recipient: string
  subject: string
  body: string
}

const SUBJECT_LENGTH_MAX = 200

/** One address and nothing that could become a second one, a name, or a header. */
const ADDRESS = /^[^\s\p{Cc},;:<>()[\]"\\@]+@[^\s\p{Cc},;:<>()[\]"\\@]+$/u

/**
 * Puts a mail into the outbox, on the caller's own handle: in the transaction of what causes it, so that neither is
 * there without the other. Without a mail server the sandbox keeps it for reading (`svc mail`).
 * @throws {TypeError} for what is no single address; the contract has refused such before
 */
export async function queueMail(
  parts: Pick<App, 'sealer' | 'ids' | 'config'>,
  db: CommonQueryMethods,
  mail: NewMail,
): Promise<void> {
  if (!ADDRESS.test(mail.recipient)) throw new TypeError('the recipient of a mail is not one e-mail address')
  const id = parts.ids.uuid()
  await insertMail(db, {
    id,
    merchantId: mail.merchantId,
    realm: mail.realm,
    kind: mail.kind,
    recipient: mail.recipient,
    subject: oneLine(mail.subject),
    body: parts.sealer.seal(mail.body, mailBodyContext({ id, merchantId: mail.merchantId })),
    status: parts.config.smtpUrl === undefined ? 'KEPT' : 'PENDING',
  })
}

/** A company may have a line break in its name; a header may not. */
function oneLine(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, SUBJECT_LENGTH_MAX)
}
