import type { App } from '../app.ts'
import type { ClaimedMail } from './record.ts'
import { mailBodyContext } from './seal-context.ts'
import { claimMails, deleteOldMails, markFailed, markSent } from './sql.ts'
import { failureOf, openTransport, sendTimeoutMs } from './transport.ts'
import type { MailFailure, MailTransport } from './transport.ts'

type SendApp = Pick<App, 'pool' | 'config' | 'sealer' | 'log'>

/** Mails that are under way at once, and how many of one run share its connections. */
const BATCH = 5
const BATCHES_MAX = 20

/** A mail stays with its worker while it is sent and marked. One that died gives it back when this ends. */
const LEASE_MS = sendTimeoutMs + 40_000

const MINUTE = 60_000
/** After the first attempt: five more over half a day, then it is given up. */
const RETRY_MS: readonly number[] = [1 * MINUTE, 5 * MINUTE, 30 * MINUTE, 120 * MINUTE, 360 * MINUTE]

const KEPT_DAYS = 30
const DELETED_AT_ONCE = 500

/**
 * Sends the mails that are due, each at least once: what was sent and not marked, because its worker died, goes out
 * again under the same Message-ID. Old mails are deleted on the way, for nobody reads them any more.
 */
export async function sendMails(app: SendApp, signal: AbortSignal): Promise<{ more: boolean }> {
  const deleted = await deleteOldMails(app.pool, { olderThanDays: KEPT_DAYS, rowsMax: DELETED_AT_ONCE })
  const moreToSend = await sendDue(app, signal)
  return { more: moreToSend || deleted === DELETED_AT_ONCE }
}

async function sendDue(app: SendApp, signal: AbortSignal): Promise<boolean> {
  const { smtpUrl } = app.config
  if (smtpUrl === undefined) return false
  let transport: MailTransport | undefined
  try {
    for (let batch = 0; batch < BATCHES_MAX && !signal.aborted; batch += 1) {
      const mails = await claimMails(app.pool, { rowsMax: BATCH, leaseMs: LEASE_MS })
      if (mails.length === 0) return false
      const opened = (transport ??= await openTransport(app.config, smtpUrl))
      const done = await Promise.allSettled(mails.map((mail) => sendOne(app, opened, mail)))
      const failed = done.find((each) => each.status === 'rejected')
      if (failed !== undefined) throw failed.reason
    }
    return !signal.aborted
  } finally {
    transport?.close()
  }
}

async function sendOne(app: SendApp, transport: MailTransport, mail: ClaimedMail): Promise<void> {
  const error = await attempt(app, transport, mail)
  // In live mode a body that is of no more use is not kept: its links open doors. The sandbox is for reading it.
  const keepBody = app.config.mode === 'sandbox'
  if (error === null) return markSent(app.pool, mail, { keepBody })
  const delayMs = RETRY_MS[mail.attempt_count - 1] ?? null
  const context = { mail: mail.id, attempt: mail.attempt_count, failure: error }
  if (delayMs === null) app.log.error(context, 'a mail was given up')
  else app.log.warn(context, 'a mail could not be sent; it is tried again')
  await markFailed(app.pool, mail, { error, delayMs, keepBody })
}

/** Why the mail did not go out; null where it did. */
async function attempt(app: SendApp, transport: MailTransport, mail: ClaimedMail): Promise<string | null> {
  const body = openBody(app, mail)
  if (body === null) return 'body_unreadable' satisfies MailFailure
  try {
    await transport.send({ id: mail.id, recipient: mail.recipient, subject: mail.subject, body })
    return null
  } catch (error) {
    return failureOf(error)
  }
}

/** Null where this worker's master key does not open it: another's may. */
function openBody({ sealer }: SendApp, { id, merchant_id, body }: ClaimedMail): string | null {
  if (body === null) return null
  try {
    return sealer.open(body, mailBodyContext({ id, merchantId: merchant_id }))
  } catch {
    return null
  }
}
