import { getMail, listMails } from '../../src/wire/mails.ts'
import { PayerContact, PayerSession, requestLink, signOutPayer, verifyLink } from '../../src/wire/payer.ts'
import { quoted } from '../base/command-hints.ts'
import { CliError, usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import type { Io } from '../base/io.ts'
import { printable, shortTime } from '../base/text.ts'
import { distanceOf } from '../base/times.ts'
import { asPayer, forgetPayerLogin, keepPayerLogin, payerLogin, readPayerLogin } from '../client/auth/payer-session.ts'
import { isLive, isSandbox } from '../client/auth/service-info.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { PAYER_LINK } from '../client/error-hints.ts'
import { CHANGING, change, membersOf } from '../kit/change.ts'
import { command, argument } from '../kit/command.ts'
import { durationOf } from '../kit/context.ts'
import { askUntil } from '../kit/wait.ts'

export const link = command({
  command: 'payer link',
  summary: 'Send a sign-in link to a payer',
  details: 'The response is the same for unknown contacts.',
  examples: ['svc payer link ada@example.org', 'svc payer link +447700900123'],
  flags: {
    contact: argument('contact', 'E-mail address, or phone number with country code'),
    ...CHANGING,
  },
  async run(context, input) {
    const { contact } = input
    const client = context.client()
    const body = await change(context, client, requestLink, { input: { body: contactOf(contact) }, options: input })
    if (body === undefined) return undefined
    context.print.record(body, [['Link', `sent, where ${printable(contact)} has paid something`]], { id: body.status })
    if (context.print.isMachine) return undefined
    const next = (await isSandbox(client)) ? `svc payer verify --from-mail ${quoted(contact)}` : 'svc payer verify'
    context.note(`Next, within 10 minutes: ${printable(next)}`)
  },
})

const NUMBER = /^\+?[\d ().-]+$/

/** An e-mail address or a phone number. @throws {Error} the refusal, for what is neither */
export function contactOf(text: string, refusal: (why: string) => Error = noContact): PayerContact {
  const parsed = PayerContact.safeParse(text.includes('@') ? { email: text } : { phone: text })
  if (parsed.success && (text.includes('@') || NUMBER.test(text))) return parsed.data
  throw refusal(whyNoContact(text))
}

function whyNoContact(text: string): string {
  return `"${text}" is neither an e-mail address nor a phone number`
}

function noContact(why: string): CliError {
  return usageError(why, 'svc payer link ada@example.org\nsvc payer link +447700900123')
}

export const verify = command({
  command: 'payer verify',
  summary: 'Sign in with a link or its token',
  details: 'The session lasts 15 minutes. With -, the link stays out of the history of the shell.',
  examples: ['svc payer verify', 'svc payer verify - < link.txt', 'svc payer verify --from-mail ada@example.org'],
  flags: {
    link: { value: 'link', summary: 'Link or token; - reads it from standard input', positional: true },
    fromMail: { value: 'contact', summary: 'In the sandbox: the newest link mailed to this contact' },
    wait: { value: 'duration', summary: 'With --from-mail: maximum time to wait for the mail', initial: '10s' },
  },
  async run(context, input) {
    const { link: given } = input
    const { fromMail } = input
    if (given !== undefined && fromMail !== undefined)
      throw usageError('give either a link or --from-mail', 'svc payer verify --from-mail ada@example.org')
    const timeoutMs = durationOf(input.wait, '--wait')
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
    context.print.record(
      { ...session, expires_at: expiresAt },
      [
        ['Signed in', contact],
        ['Until', `${shortTime(expiresAt)} (${distanceOf(expiresAt)})`],
      ],
      { id: session_token },
    )
    if (!context.print.isMachine) context.note('Next: svc payer payments list')
  },
})

/** As the outbox writes it: an address in lower case, a number as the service knows it. */
async function recipientOf(contact: string): Promise<string> {
  if (contact.includes('@')) return contact.trim().toLowerCase()
  // Numbers are what few sign in with: the library that reads them is loaded for those alone.
  const { normalisePhone } = await import('../../src/lib/payer-contact.ts')
  const number = normalisePhone(contact)
  if (number === undefined) throw noContact(whyNoContact(contact))
  return number
}

async function open(client: Client, token: string): Promise<PayerSession> {
  return (await call(client, verifyLink, { body: { token } })).body
}

export const whoami = command({
  command: 'payer whoami',
  summary: 'Show which payer is signed in',
  details: 'Exit code 4 if no payer is signed in.',
  examples: ['svc payer whoami'],
  flags: {},
  async run(context) {
    const { apiUrl } = context.client()
    const { contact, expires_at } = payerLogin(context.io.env, apiUrl)
    context.print.record({ contact, expires_at, api_url: apiUrl }, [
      ['Payer', contact],
      ['Session until', `${shortTime(expires_at)} (${distanceOf(expires_at)})`],
      ['Service', apiUrl],
    ])
  },
})

/** Forgotten first: whatever happens at the service, nothing here can use it any more. */
export const logout = command({
  command: 'payer logout',
  summary: 'Sign out as a payer',
  examples: ['svc payer logout'],
  flags: {},
  async run(context) {
    const client = context.client()
    const { env } = context.io
    const login = readPayerLogin(env, client.apiUrl)
    const isOpen = login !== undefined && Date.parse(login.expires_at) > Date.now()
    const payer = isOpen ? asPayer(client, env) : undefined
    forgetPayerLogin(env, client.apiUrl)
    if (payer !== undefined) await end(payer)
    context.print.record(
      { contact: login?.contact ?? null, signed_out: isOpen },
      isOpen ? [['Signed out', login.contact]] : [],
      { id: login?.contact ?? '' },
    )
    if (!isOpen) context.note('No payer was signed in.')
  },
})

/** A session that the service has ended before is as good as one that it ends now. */
async function end(payer: Client): Promise<void> {
  try {
    await call(payer, signOutPayer, {})
  } catch (error) {
    if (!(error instanceof CliError) || error.options.exit !== EXIT.signedOut) throw error
  }
}

const LINK_BYTES_MAX = 8_192

/** A link from the command line, standard input, or a person at the terminal. @throws {CliError} where there is none */
async function readLink(io: Io, given: string | undefined): Promise<string> {
  if (given !== undefined && given !== '-') return given
  if (given === undefined && !io.stdin.isTTY)
    throw usageError('which link? None was given', 'svc payer verify - < link.txt')
  if (io.stdin.isTTY) io.stderr.write('The link, or the token in it: ')
  const text = io.stdin.isTTY ? await io.stdin.readLine() : (await io.stdin.read(LINK_BYTES_MAX)).toString('utf8')
  const link = text?.trim() ?? ''
  if (link === '') throw usageError('there is no link in what was read')
  return link
}

const TOKEN = /^[\w-]{16,256}$/

/**
 * The token of a link, wherever in it that stands; a token alone as it is.
 * @throws {CliError} exit code 2; the message repeats nothing of it
 */
export function tokenOf(text: string): string {
  const token = URL.canParse(text) ? tokenIn(new URL(text)) : text
  if (token !== undefined && TOKEN.test(token)) return token
  throw usageError('invalid link: use the whole link of the mail or text message, or the token in it', PAYER_LINK)
}

/** The token in a link; undefined where the link is about something else. */
function tokenIn({ hash, searchParams }: URL): string | undefined {
  const fragment = hash.slice(1)
  return (
    new URLSearchParams(fragment).get('token') ??
    searchParams.get('token') ??
    (TOKEN.test(fragment) ? fragment : undefined)
  )
}

type MailSignIn = {
  /** Whose mail: an address, or a number with its country code. */
  contact: string
  timeoutMs: number
  open(token: string): Promise<PayerSession>
}

/**
 * Signs in with the newest link in the sandbox's outbox. Mail comes shortly after it was asked for: a link that was used
 * before is passed over until a newer one is there or the time is over.
 * @throws {CliError} NOT_FOUND, exit code 6, where there is no link; LINK_INVALID, 4, where none works any more
 */
async function openFromMail(client: Client, { contact, timeoutMs, open }: MailSignIn): Promise<PayerSession> {
  if (await isLive(client))
    throw new CliError('NO_MAIL_KEPT', `${client.apiUrl} is live: it sends its mail, and keeps none to be read here`, {
      hint: 'with the link of the mail: svc payer verify',
    })
  const tried = new Set<string>()
  let refused: CliError | undefined
  const session = await askUntil(
    async () => {
      const token = await newestToken(client, contact)
      if (token === undefined || tried.has(token)) return undefined
      tried.add(token)
      return open(token).catch((error: unknown) => {
        if (!(error instanceof CliError) || error.code !== 'LINK_INVALID') throw error
        refused = error
        return undefined
      })
    },
    (opened) => opened !== undefined,
    timeoutMs,
  )
  if (session !== undefined) return session
  throw refused === undefined ? noLink(contact) : usedUp(contact, refused)
}

/**
 * The token of the newest link that was mailed to a payer; undefined where there is none.
 * @param passedOver ids of mails that are not looked at
 */
export async function newestToken(
  client: Client,
  recipient: string,
  passedOver: ReadonlySet<string> = new Set(),
): Promise<string | undefined> {
  const { data } = (await call(client, listMails, { query: { recipient } })).body
  for (const { id } of data.filter((mail) => !passedOver.has(mail.id))) {
    const { links } = (await call(client, getMail, { params: { id } })).body
    const token = links.map((link) => tokenOfHub(link)).find((each) => each !== undefined)
    if (token !== undefined) return token
  }
  return undefined
}

/** The token in a link of the hub; an invitation has one too, which is none of the hub's. */
function tokenOfHub(link: string): string | undefined {
  if (!URL.canParse(link)) return undefined
  const url = new URL(link)
  return url.pathname === '/hub' ? tokenIn(url) : undefined
}

function usedUp(contact: string, refused: CliError): CliError {
  const message = `the newest link for ${contact} in the outbox was used already, or has ended`
  return new CliError(refused.code, message, {
    ...refused.options,
    hint: `svc payer link ${quoted(contact)}`,
    cause: refused,
  })
}

function noLink(contact: string): CliError {
  return new CliError('NOT_FOUND', `there is no link for ${contact} in the outbox; who has paid nothing is sent none`, {
    hint: `svc payer link ${quoted(contact)}\nto wait longer: svc payer verify --from-mail ${quoted(contact)} --wait 30s`,
    retryable: true,
  })
}
