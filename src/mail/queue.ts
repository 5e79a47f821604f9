import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { E164 } from '../lib/e164.ts'
import { mailBodyContext, recipientContext, recipientHash } from './seal-context.ts'
import { insertMail, lockMailCount, secondsToNextMail } from './sql.ts'
import type { NewMailRow } from './sql.ts'

/** A plain-text mail. Only the body is secret: the subject may be logged. */
export type NewMail = {
  /** The merchant concerned; null for the platform's own mails. */
  merchantId: string | null
  /** The realm to which its links give access. */
  realm: string
  /** Its purpose, such as `invite`. */
  kind: string
  recipient: string
  subject: string
  body: string
  /** The seconds after which it is useless and no longer sent. Absent for mails without an expiry. */
  uselessAfterSeconds?: number
  /** The payment whose receipt it is. */
  paymentId?: string
}

const SUBJECT_LENGTH_MAX = 200

/** One address, without characters that could start a second one, a name, or a header. */
const ADDRESS = /^[^\s\p{Cc},;:<>()[\]"\\@]+@[^\s\p{Cc},;:<>()[\]"\\@]+$/u

/**
 * Inserts a mail into the outbox over the caller's handle: in the transaction of its cause, so that neither exists
 * without the other. Without a mail server the sandbox keeps it for reading (`svc sandbox mail`).
 * @returns the mail's id
 * @throws {TypeError} for anything but a single address, which the contract has rejected before
 */
export async function queueMail(
  parts: Pick<App, 'sealer' | 'lookupHash' | 'ids' | 'config'>,
  db: CommonQueryMethods,
  mail: NewMail,
): Promise<string> {
  if (!ADDRESS.test(mail.recipient)) throw new TypeError('the recipient of a mail is not one e-mail address')
  return queue(parts, db, { ...mail, channel: 'EMAIL', status: statusOf(parts.config.smtpUrl !== undefined) })
}

/**
 * The same for a text message, whose recipient is a phone number in E.164 form; its subject appears only in lists.
 * Without a gateway the sandbox keeps it, and live mode must not call this.
 * @throws {TypeError} for an invalid number
 */
export async function queueText(
  parts: Pick<App, 'sealer' | 'lookupHash' | 'ids' | 'config'>,
  db: CommonQueryMethods,
  text: NewMail,
): Promise<void> {
  if (!E164.test(text.recipient)) throw new TypeError('the recipient of a text message is not one phone number')
  const isSent = parts.config.sms !== undefined
  if (!isSent && parts.config.mode === 'live') throw new Error('no gateway for text messages is configured')
  await queue(parts, db, { ...text, channel: 'SMS', status: statusOf(isSent) })
}

/**
 * Puts a message that a limit keeps from being sent into the sandbox's outbox: DEAD, with the reason. Otherwise its
 * requester would look for it in vain.
 */
export async function keepUnsent(
  parts: Pick<App, 'sealer' | 'lookupHash' | 'ids'>,
  db: CommonQueryMethods,
  mail: NewMail & { channel: 'EMAIL' | 'SMS'; reason: 'limit_reached' },
): Promise<void> {
  await queue(parts, db, { ...mail, status: 'DEAD' })
}

/**
 * Records a mail that another service sends, or may have sent without a response, so that it is counted and listed; only
 * that service has its body.
 * @returns the mail's id
 */
export function recordSentMail(
  parts: Pick<App, 'sealer' | 'lookupHash' | 'ids'>,
  db: CommonQueryMethods,
  mail: Omit<NewMail, 'body'>,
): Promise<string> {
  return queue(parts, db, { ...mail, body: null, channel: 'EMAIL', status: 'SENT' })
}

async function queue(
  parts: Pick<App, 'sealer' | 'lookupHash' | 'ids'>,
  db: CommonQueryMethods,
  mail: Omit<NewMail, 'body'> &
    Pick<NewMailRow, 'channel' | 'status'> & {
      /** Null for a mail that another service sends. */
      body: string | null
      reason?: string
    },
): Promise<string> {
  const id = parts.ids.uuid()
  const place = { id, merchantId: mail.merchantId }
  await insertMail(db, {
    id,
    merchantId: mail.merchantId,
    realm: mail.realm,
    kind: mail.kind,
    channel: mail.channel,
    recipient: parts.sealer.seal(mail.recipient, recipientContext(place)),
    recipientHash: await recipientHash(parts, mail.recipient),
    subject: oneLine(mail.subject),
    body: mail.body === null ? null : parts.sealer.seal(mail.body, mailBodyContext(place)),
    status: mail.status,
    lastError: mail.reason ?? null,
    uselessAfterSeconds: mail.uselessAfterSeconds ?? null,
    paymentId: mail.paymentId ?? null,
  })
  return id
}

function statusOf(isSent: boolean): 'PENDING' | 'KEPT' {
  return isSent ? 'PENDING' : 'KEPT'
}

/** A company may have a line break in its name; a header may not. */
function oneLine(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, SUBJECT_LENGTH_MAX)
}

/**
 * Locks the count of a recipient's mails of one kind until the transaction's end, and says in how many seconds fewer than
 * `perHour` were queued within an hour; 0 if another one may be now. Mails of every realm count together for null.
 */
export async function secondsToNextMailTo(
  parts: Pick<App, 'lookupHash'>,
  tx: DatabaseTransactionConnection,
  { recipient, kind, realm }: { recipient: string; kind: string; realm: string | null },
  perHour: number,
): Promise<number> {
  const series = { kind, realm, recipientHash: await recipientHash(parts, recipient) }
  await lockMailCount(tx, series)
  return secondsToNextMail(tx, series, perHour)
}
