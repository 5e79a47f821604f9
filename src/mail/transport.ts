import type { App } from '../app.ts'

/** An outgoing mail: one recipient, plain text. */
export type OutgoingMail = { id: string; recipient: string; subject: string; body: string }

/** Why a mail was not sent. A closed list: a mail server's message may repeat addresses, or contain anything. */
export type MailFailure =
  | 'connection_failed'
  | 'timed_out'
  | 'tls_failed'
  | 'login_refused'
  | 'recipient_refused'
  | 'message_refused'
  | 'body_unreadable'
  | 'too_late'
  | 'failed'

export type MailTransport = {
  /** @throws the library's error; `failureOf` classifies it */
  send(mail: OutgoingMail): Promise<void>
  close(): void
}

/** The timeout of one SMTP step, and of the whole conversation. */
const STEP_TIMEOUT_MS = 10_000
export const sendTimeoutMs = 20_000

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])
const PORTS = { 'smtp:': 587, 'smtps:': 465 }

/**
 * Opens a pool of connections to the mail server, whose certificate is always checked. Logins, and in live mode
 * everything, require TLS; only a relay on this machine is used without it, because it has no certificate of its own.
 * The library is loaded here, so that processes that send no mail never load it.
 */
export async function openTransport(
  config: Pick<App['config'], 'mode' | 'mailFrom'>,
  smtpUrl: string,
): Promise<MailTransport> {
  const { createTransport } = await import('nodemailer')
  const pool = createTransport({
    ...connectionOf(config, smtpUrl),
    pool: true,
    maxConnections: 5,
    // Retries follow our own schedule only.
    maxRequeues: 0,
  })
  return {
    send: async ({ id, recipient, subject, body }) => {
      await pool.sendMail({
        from: config.mailFrom,
        // As an object, because a text would be parsed as a list of addresses.
        to: { name: '', address: recipient },
        subject,
        text: body,
        // The same at every attempt, so that a mailbox can detect repeats.
        messageId: `<${id}@${domainOf(config.mailFrom)}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
        signal: AbortSignal.timeout(sendTimeoutMs),
      })
    },
    close: () => pool.close({ force: true }),
  }
}

/**
 * Connects to the mail server as for a mail, with TLS and login, without sending one.
 * @throws the library's error; `failureOf` classifies it
 */
export async function verifyTransport(
  config: Pick<App['config'], 'mode'>,
  smtpUrl: string,
  timeoutMs: number,
): Promise<void> {
  const { createTransport } = await import('nodemailer')
  const limits = {
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
  }
  const transport = createTransport({ ...connectionOf(config, smtpUrl), ...limits })
  try {
    await transport.verify()
  } finally {
    transport.close()
  }
}

function connectionOf({ mode }: Pick<App['config'], 'mode'>, smtpUrl: string) {
  const { protocol, hostname, port, username, password } = new URL(smtpUrl)
  const isLocal = LOOPBACK.has(hostname)
  const hasLogin = username !== ''
  return {
    host: hostname.replaceAll(/[[\]]/g, ''),
    port: port === '' ? PORTS[protocol === 'smtps:' ? 'smtps:' : 'smtp:'] : Number(port),
    secure: protocol === 'smtps:',
    ignoreTLS: isLocal,
    requireTLS: !isLocal && (hasLogin || mode === 'live'),
    ...(hasLogin ? { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } } : {}),
    connectionTimeout: STEP_TIMEOUT_MS,
    greetingTimeout: STEP_TIMEOUT_MS,
    socketTimeout: STEP_TIMEOUT_MS,
    dnsTimeout: STEP_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

function domainOf(from: string): string {
  return /@([A-Za-z0-9.-]+)/.exec(from)?.[1] ?? 'localhost'
}

const FAILURES: Readonly<Record<string, MailFailure>> = {
  ECONNECTION: 'connection_failed',
  ESOCKET: 'connection_failed',
  EDNS: 'connection_failed',
  EPROTOCOL: 'connection_failed',
  ETIMEDOUT: 'timed_out',
  EABORT: 'timed_out',
  ETLS: 'tls_failed',
  EREQUIRETLS: 'tls_failed',
  EAUTH: 'login_refused',
  ENOAUTH: 'login_refused',
  EENVELOPE: 'recipient_refused',
  EMESSAGE: 'message_refused',
}

/** Classifies an error of the library, with the server's reply code if there is one. */
export function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed'
  const failure = ('code' in error && FAILURES[String(error.code)]) || 'failed'
  const reply = 'responseCode' in error && typeof error.responseCode === 'number' ? ` (${error.responseCode})` : ''
  return `${failure}${reply}`
}
