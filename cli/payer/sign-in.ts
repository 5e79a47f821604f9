import { z } from 'zod'
import { PayerContact, PayerSession, requestLink, signOutPayer, verifyLink } from '../../src/wire/payer.ts'
import { asPayer, forgetPayerLogin, keepPayerLogin, payerLogin, readPayerLogin } from '../client/auth/payer-session.ts'
import { change, membersOf } from '../kit/change.ts'
import type { ChangeOptions } from '../kit/change.ts'
import { quoted } from '../base/command-hints.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { durationOf } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { CliError, usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { isSandbox } from '../client/auth/service-info.ts'
import { printable, shortTime } from '../base/text.ts'
import { distanceOf } from '../base/times.ts'
import { openFromMail } from './from-mail.ts'
import { readLink, tokenOf } from './read-link.ts'

export async function link(
  context: Context,
  { args, options }: CommandInput<Pick<ChangeOptions, 'dryRun'>>,
): Promise<CommandResult> {
  const [contact = ''] = args
  const client = context.client()
  const body = await change(context, client, requestLink, { input: { body: contactOf(contact) }, options })
  if (body === undefined) return undefined
  context.print.record({
    item: body,
    id: body.status,
    lines: [['Link', `sent, where ${printable(contact)} has paid something`]],
  })
  if (context.print.isMachine) return undefined
  const next = (await isSandbox(client)) ? `svc payer verify --from-mail ${quoted(contact)}` : 'svc payer verify'
  context.note(`Next, within 10 minutes: ${printable(next)}`)
  return undefined
}

/** @throws {CliError} exit code 2 where it is neither an e-mail address nor a number */
function contactOf(text: string): PayerContact {
  const parsed = PayerContact.safeParse(text.includes('@') ? { email: text } : { phone: text })
  if (parsed.success && (text.includes('@') || /^\+?[\d ().-]+$/.test(text))) return parsed.data
  throw noContact(text)
}

function noContact(text: string): CliError {
  return usageError(
    `"${text}" is neither an e-mail address nor a phone number`,
    'svc payer link ada@example.org\nsvc payer link +447700900123',
  )
}

export const VerifyOptions = z.object({ fromMail: z.string().optional(), wait: z.string() })

export async function verify(
  context: Context,
  { args, options }: CommandInput<z.infer<typeof VerifyOptions>>,
): Promise<CommandResult> {
  const [given] = args
  const { fromMail } = options
  if (given !== undefined && fromMail !== undefined)
    throw usageError('give either a link or --from-mail', 'svc payer verify --from-mail ada@example.org')
  const timeoutMs = durationOf(options.wait, '--wait')
  const recipient = fromMail === undefined ? null : await recipientOf(fromMail)
  const client = context.client()
  // The link works once: what could not be printed has to be refused before.
  context.print.expect([...membersOf(PayerSession), 'expires_at'])
  const session =
    recipient === null
      ? await open(client, tokenOf(await readLink(context.io, given)))
      : await openFromMail(client, { contact: recipient, timeoutMs, open: (token) => open(client, token) })
  const expiresAt = new Date(Date.now() + session.expires_in * 1_000).toISOString()
  const { contact, session_token } = session
  const login = { api_url: client.apiUrl, contact, typed_contact: recipient, session_token, expires_at: expiresAt }
  keepPayerLogin(context.io.env, login)
  context.print.record({
    item: { ...session, expires_at: expiresAt },
    id: session_token,
    lines: [
      ['Signed in', contact],
      ['Until', `${shortTime(expiresAt)} (${distanceOf(expiresAt)})`],
    ],
  })
  if (!context.print.isMachine) context.note('Next: svc payer payments list')
  return undefined
}

/** As the outbox writes it: an address in lower case, a number as the service knows it. */
async function recipientOf(contact: string): Promise<string> {
  if (contact.includes('@')) return contact.trim().toLowerCase()
  // Numbers are what few sign in with: the library that reads them is loaded for those alone.
  const { normalisePhone } = await import('../../src/lib/payer-contact.ts')
  const number = normalisePhone(contact)
  if (number === undefined) throw noContact(contact)
  return number
}

async function open(client: Client, token: string): Promise<PayerSession> {
  return (await call(client, verifyLink, { body: { token } })).body
}

export async function whoami(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  const { apiUrl } = context.client()
  const { contact, expires_at } = payerLogin(context.io.env, apiUrl)
  context.print.record({
    item: { contact, expires_at, api_url: apiUrl },
    id: contact,
    lines: [
      ['Payer', contact],
      ['Session until', `${shortTime(expires_at)} (${distanceOf(expires_at)})`],
      ['Service', apiUrl],
    ],
  })
  return undefined
}

/** Forgotten first: whatever happens at the service, nothing here can use it any more. */
export async function logout(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  const client = context.client()
  const { env } = context.io
  const login = readPayerLogin(env, client.apiUrl)
  const isOpen = login !== undefined && Date.parse(login.expires_at) > Date.now()
  const payer = isOpen ? asPayer(client, env) : undefined
  forgetPayerLogin(env, client.apiUrl)
  if (payer !== undefined) await end(payer)
  context.print.record({
    item: { contact: login?.contact ?? null, signed_out: isOpen },
    id: login?.contact ?? '',
    lines: isOpen ? [['Signed out', login.contact]] : [],
  })
  if (!isOpen) context.note('No payer was signed in.')
  return undefined
}

/** A session that the service has ended before is as good as one that it ends now. */
async function end(payer: Client): Promise<void> {
  try {
    await call(payer, signOutPayer, {})
  } catch (error) {
    if (!(error instanceof CliError) || error.options.exit !== EXIT.signedOut) throw error
  }
}
