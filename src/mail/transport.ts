import type { App } from '../app.ts'

/** What goes out: one recipient, plain text. */
export type OutgoingMail = { id: string; recipient: string; subject: string; body: string }

/** Why a mail did not go out. A closed list: what a mail server says may repeat addresses, or what it likes. */
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
  /** @throws whatever the library throws; `failureOf` says what it means */
  send(mail: OutgoingMail): Promise<void>
  close(): void
}

/** How long one step of the conversation may take, and the whole of it. */
const STEP_TIMEOUT_MS = 10_000
export const sendTimeoutMs = 20_000

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])
const PORTS = { 'smtp:': 587, 'smtps:': 465 }

/**
 * Opens a pool of connections to the mail server, whose certificate is always checked. A login, and in live mode
 * everything, goes over TLS only; but a relay on this machine is spoken to in clear, for it has no certificate of its
 * own. The library is loaded here, so that who sends no mail never loads it.
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
    // What fails is tried again by the schedule alone.
    maxRequeues: 0,
  })
  return {
    send: async ({ id, recipient, subject, body }) => {
      await pool.sendMail({
        from: config.mailFrom,
        // As an object and not as text, which would be read as a list of addresses.
        to: { name: '', address: recipient },
        subject,
        text: body,
        // The same at every attempt: a mailbox that has it already can tell.
        messageId: `<${id}@${domainOf(config.mailFrom)}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
        signal: AbortSignal.timeout(sendTimeoutMs),
      })
    },
    close: () => pool.close({ force: true }),
  }
}

/**
 * Connects to the mail server as for a mail, with TLS and login, and sends none.
 * @throws whatever the library throws; `failureOf` says what it means
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

/** What an error of the library means, with the server's reply code where it gave one. */
export function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed'
  const failure = ('code' in error && FAILURES[String(error.code)]) || 'failed'
  const reply = 'responseCode' in error && typeof error.responseCode === 'number' ? ` (${error.responseCode})` : ''
  return `${failure}${reply}`
}
