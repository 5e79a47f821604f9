import type { App } from '../app.ts'
import type { ClaimedMail } from './record.ts'
import { mailBodyContext, recipientContext } from './seal-context.ts'
import { claimMails, markFailed, markSent } from './sql.ts'
import { sendText } from './text-gateway.ts'
import { failureOf, openTransport, sendTimeoutMs } from './transport.ts'
import type { MailFailure, MailTransport } from './transport.ts'

type SendApp = Pick<App, 'pool' | 'config' | 'sealer' | 'log'>

/** Mails sent concurrently, and batches per run, which share its connections. */
const BATCH = 5
const BATCHES_MAX = 20

/** The lease of a mail while it is sent and marked. A crashed worker's mail becomes available when it expires. */
const LEASE_MS = sendTimeoutMs + 40_000

const MINUTE = 60_000
/** The delays after failed attempts: five retries within nine hours, then the mail is abandoned. */
const RETRY_MS: readonly number[] = [1 * MINUTE, 5 * MINUTE, 30 * MINUTE, 120 * MINUTE, 360 * MINUTE]

/**
 * Sends the mails and text messages that are due, each at least once: a mail that was sent but not marked, because its
 * worker crashed, is sent again with the same id.
 */
export async function sendMails(app: SendApp, signal: AbortSignal): Promise<{ more: boolean }> {
  return { more: await sendDue(app, signal) }
}

async function sendDue(app: SendApp, signal: AbortSignal): Promise<boolean> {
  const { smtpUrl, sms } = app.config
  const channels = [...(smtpUrl === undefined ? [] : ['EMAIL']), ...(sms === undefined ? [] : ['SMS'])]
  if (channels.length === 0) return false
  const mailServer = makeMailServer(app)
  try {
    for (let batch = 0; batch < BATCHES_MAX && !signal.aborted; batch += 1) {
      const mails = await claimMails(app.pool, { channels, rowsMax: BATCH, leaseMs: LEASE_MS })
      if (mails.length === 0) return false
      const done = await Promise.allSettled(mails.map((mail) => sendOne(app, mailServer, mail)))
      const failed = done.find((each) => each.status === 'rejected')
      if (failed !== undefined) throw failed.reason
    }
    return !signal.aborted
  } finally {
    await mailServer.close()
  }
}

type MailServer = { opened(): Promise<MailTransport>; close(): Promise<void> }

/** The mail server of one run, connected on first use. */
function makeMailServer({ config }: SendApp): MailServer {
  let transport: Promise<MailTransport> | undefined
  return {
    opened: () => (transport ??= openTransport(config, config.smtpUrl ?? '')),
    close: async () => (await transport?.catch(() => undefined))?.close(),
  }
}

async function sendOne(app: SendApp, mailServer: MailServer, mail: ClaimedMail): Promise<void> {
  const error = await attempt(app, mailServer, mail)
  // Live mode deletes the body once it is no longer needed, because its links give access. The sandbox keeps it for
  // reading.
  const keepBody = app.config.mode === 'sandbox'
  if (error === null) return markSent(app.pool, mail, { keepBody })
  const delayMs = mail.is_useless ? null : (RETRY_MS[mail.attempt_count - 1] ?? null)
  const context = { mail: mail.id, kind: mail.kind, attempt: mail.attempt_count, failure: error }
  if (delayMs === null) app.log.error(context, 'a mail was abandoned')
  else app.log.warn(context, 'a mail could not be sent; it will be retried')
  await markFailed(app.pool, mail, { error, delayMs, keepBody })
}

/** Sends the mail; returns the failure, or null on success. */
async function attempt(app: SendApp, mailServer: MailServer, mail: ClaimedMail): Promise<string | null> {
  if (mail.is_useless) return 'too_late' satisfies MailFailure
  const opened = open(app, mail)
  if (opened === null) return 'body_unreadable' satisfies MailFailure
  const { recipient, body } = opened
  const { id, subject } = mail
  if (mail.channel === 'SMS') {
    // Text messages are claimed only with a gateway.
    return app.config.sms === undefined ? 'failed' : sendText(app.config.sms, { id, to: recipient, text: body })
  }
  try {
    const transport = await mailServer.opened()
    await transport.send({ id, recipient, subject, body })
    return null
  } catch (error) {
    return failureOf(error)
  }
}

/** Null if this worker's master key can't open it: another worker's may. */
function open(
  { sealer }: SendApp,
  { id, merchant_id: merchantId, recipient, body }: ClaimedMail,
): { recipient: string; body: string } | null {
  if (body === null) return null
  try {
    return {
      recipient: sealer.open(recipient, recipientContext({ id, merchantId })),
      body: sealer.open(body, mailBodyContext({ id, merchantId })),
    }
  } catch {
    return null
  }
}
