import type { Test } from 'tap'
import { request } from 'undici'
import { z } from 'zod'
import { makeKeycloakProvider } from '../../src/identity/keycloak/provider.ts'
import type { KeycloakSettings } from '../../src/identity/keycloak/settings.ts'
import { makeIds } from '../../src/lib/ids.ts'
import { makeLog } from '../../src/observe/log.ts'
import type { HarnessOptions, IdentityHarness } from './identity.ts'
import { smtpSink } from './smtp-sink.ts'
import type { SmtpSink } from './smtp-sink.ts'

const Running = z.object({
  authUrl: z.url(),
  /** Where test/identity/keycloak/run.ts takes orders: POST /start, /stop, /restart. */
  control: z.url(),
  clientId: z.string(),
  clientSecret: z.string(),
})
export type RunningKeycloak = z.infer<typeof Running>

/** The Keycloak that `npm run test:keycloak` has started. @throws outside of it */
export function runningKeycloak(): RunningKeycloak {
  const told = process.env['SVC_TEST_KEYCLOAK']
  if (told === undefined) throw new Error('start it with: npm run test:keycloak')
  return Running.parse(JSON.parse(told))
}

/** Has the server started, stopped or both. Other tests are not asked, so those who do it run alone. */
export async function orderKeycloak(order: 'start' | 'stop' | 'restart'): Promise<void> {
  const { statusCode, body } = await request(`${runningKeycloak().control}/${order}`, {
    method: 'POST',
    headersTimeout: 150_000,
  })
  const text = await body.text()
  if (statusCode !== 204) throw new Error(`Keycloak did not ${order}: ${text}`)
}

export function keycloakSettings(changes: Partial<KeycloakSettings> = {}): KeycloakSettings {
  const { authUrl, clientId, clientSecret } = runningKeycloak()
  const mail = { smtpUrl: undefined, mailFrom: 'svc <no-reply@svc.example>' }
  return { authUrl, clientId, clientSecret, sslRequired: 'none', secondFactorRoles: new Set(), ...mail, ...changes }
}

/** Keycloak as the contract sees it. It is one process, so the other one is the same. */
export async function keycloakHarness(
  t: Test,
  { mail, smtpUrl }: HarnessOptions & { smtpUrl?: string } = {},
): Promise<IdentityHarness & { sink: SmtpSink }> {
  const sink = await smtpSink(t)
  const settings = keycloakSettings({ smtpUrl: mail === 'away' ? 'smtp://127.0.0.1:1' : (smtpUrl ?? sink.url) })
  const log = makeLog(LogLevel.parse(process.env['SVC_TEST_LOG'] ?? 'silent'))
  return {
    identity: makeKeycloakProvider({ settings, ids: makeIds(), log }),
    authUrl: settings.authUrl,
    otherUrl: settings.authUrl,
    restart: () => orderKeycloak('restart'),
    mailsTo: (address) => Promise.resolve(mailsTo(sink, address)),
    sink,
  }
}

const LogLevel = z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])

/** The plain text of the mails that a sink has for an address. */
export function mailsTo({ received }: SmtpSink, address: string): string[] {
  return received.filter(({ recipients }) => recipients.includes(address)).map(({ text }) => plainTextOf(text))
}

/** The first text/plain part of a mail, decoded. */
function plainTextOf(mail: string): string {
  const [head = '', body = ''] = splitOnce(mail)
  const boundary = /boundary="?([^"\r\n;]+)/i.exec(head)?.[1]
  const parts = boundary === undefined ? [mail] : body.split(`--${boundary}`)
  const part = parts.find((each) => /content-type:\s*text\/plain/i.test(each)) ?? mail
  const [partHead = '', text = ''] = splitOnce(part.trimStart())
  if (/content-transfer-encoding:\s*base64/i.test(partHead)) return Buffer.from(text, 'base64').toString('utf8')
  if (!/content-transfer-encoding:\s*quoted-printable/i.test(partHead)) return text
  const bytes = text
    .replaceAll(/=\r?\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

function splitOnce(text: string): string[] {
  const at = /\r?\n\r?\n/.exec(text)
  return at === null ? [text, ''] : [text.slice(0, at.index), text.slice(at.index + at[0].length)]
}
