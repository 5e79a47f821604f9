import type { App } from '../app.ts'
import { postJson } from '../mail/post-json.ts'
import { failureOf, openTransport, sendTimeoutMs } from '../mail/transport.ts'
import { findAlerts } from './find-alerts.ts'
import type { AlertsApp } from './find-alerts.ts'
import { claimMessage, delayMessage, deleteMessage, endUnseen, keepFiring, keepFound } from './sql.ts'
import type { AlertMessage, Channel } from './sql.ts'

/** An alert ends when no worker has found it for so long: three runs of this job. */
const QUIET_MS = 90_000
/** Messages that one run sends, and how many of them may fail: a receiver that does not answer takes ten seconds each. */
const SENT_MAX = 20
const FAILED_MAX = 3
const POST_TIMEOUT_MS = 10_000
const LEASE_MS = sendTimeoutMs + 40_000
const FIRST_DELAY_MS = 30_000
const DELAY_MS_MAX = 900_000

type AlertOperatorsApp = AlertsApp & Pick<App, 'config'>

/**
 * Reports to operators by webhook and mail (config `SVC_ALERT_URL`, `SVC_ALERT_MAIL`) what has begun and what has ended, once
 * for each change, and tries again until it is sent. A job.
 */
export async function alertOperators(app: AlertOperatorsApp, signal: AbortSignal): Promise<{ more: boolean }> {
  const { url, mail } = app.config.alerts
  const channels: Channel[] = [
    ...(url === undefined ? [] : (['WEBHOOK'] as const)),
    ...(mail === undefined ? [] : (['MAIL'] as const)),
  ]
  if (channels.length === 0) return { more: false }
  const { found, uncheckedNames } = await findAlerts(app)
  await keepFound(app.pool, { found, channels })
  await keepFiring(app.pool, uncheckedNames)
  await endUnseen(app.pool, { channels, quietMs: QUIET_MS })
  for (const channel of channels) await sendMessages(app, channel, signal)
  return { more: false }
}

async function sendMessages(app: AlertOperatorsApp, channel: Channel, signal: AbortSignal): Promise<void> {
  let failedCount = 0
  for (let sent = 0; sent < SENT_MAX && failedCount < FAILED_MAX && !signal.aborted; sent += 1) {
    const message = await claimMessage(app.pool, { channel, leaseMs: LEASE_MS })
    if (message === null) return
    const failure = await (channel === 'WEBHOOK' ? sendWebhook(app, message) : sendMail(app, message))
    if (failure === null) {
      await deleteMessage(app.pool, message.id)
      continue
    }
    app.log.warn({ channel, alert: message.name, failure }, 'an alert could not be sent; it will be retried')
    failedCount += 1
    const delayMs = Math.min(FIRST_DELAY_MS * 2 ** (message.attempt_count - 1), DELAY_MS_MAX)
    await delayMessage(app.pool, { id: message.id, delayMs })
  }
}

const stateOf = ({ is_firing: isFiring }: AlertMessage): 'FIRING' | 'RESOLVED' => (isFiring ? 'FIRING' : 'RESOLVED')

function textOf(message: AlertMessage): string {
  return message.is_firing ? message.detail : `Over: ${message.detail}`
}

/**
 * As chat services read them: in `<` and `>` they have links and mentions of everyone, some also after a bare `@`, and a
 * merchant chooses its own name.
 */
function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('@', '@\u200b')
}

/** `text` by itself is what chat services show. */
async function sendWebhook({ config }: AlertOperatorsApp, message: AlertMessage): Promise<string | null> {
  const { id, name, subject, since } = message
  const state = stateOf(message)
  const body = {
    id: String(id),
    alert: name,
    state,
    subject: subject === '' ? null : subject,
    since,
    text: escapeMarkup(`${state} ${name}: ${textOf(message)}`),
  }
  const status = await postJson({ url: config.alerts.url ?? '', body, timeoutMs: POST_TIMEOUT_MS })
  return typeof status === 'number' && status >= 200 && status < 300 ? null : String(status)
}

async function sendMail({ config }: AlertOperatorsApp, message: AlertMessage): Promise<string | null> {
  const { id, name, subject, since } = message
  const transport = await openTransport(config, config.smtpUrl ?? '')
  try {
    await transport.send({
      id: `alert-${id}`,
      recipient: config.alerts.mail ?? '',
      subject: `[svc] ${stateOf(message)} ${name}${subject === '' ? '' : ` ${subject}`}`,
      body: `${textOf(message)}\nSince ${since}.\n\nWhat to do: docs/operators/runbook.md, ${name}.\n`,
    })
    return null
  } catch (error) {
    return failureOf(error)
  } finally {
    transport.close()
  }
}
