import type { PayerSession } from '../../src/wire/payer.ts'
import { getMail, listMails } from '../../src/wire/mails.ts'
import { quoted } from '../base/command-hints.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { CliError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { isLive } from '../client/auth/service-info.ts'
import { askUntil } from '../kit/wait.ts'
import { tokenIn } from './read-link.ts'

type Wanted = {
  /** Whose mail: an address, or a number with its country code. */
  contact: string
  timeoutMs: number
  /** Exchanges a link's token for a session. */
  open(token: string): Promise<PayerSession>
}

/**
 * Signs in with the newest link in the sandbox's outbox. Mail comes shortly after it was asked for: a link that was used
 * before is passed over until a newer one is there or the time is over.
 * @throws {CliError} NOT_FOUND, exit code 6, where there is no link; LINK_INVALID, 4, where none works any more
 */
export async function openFromMail(client: Client, { contact, timeoutMs, open }: Wanted): Promise<PayerSession> {
  if (await isLive(client))
    throw new CliError('NO_MAIL_KEPT', `${client.apiUrl} is live: it sends its mail, and keeps none to be read here`, {
      exit: EXIT.notFound,
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

async function newestToken(client: Client, recipient: string): Promise<string | undefined> {
  const { data } = (await call(client, listMails, { query: { recipient } })).body
  for (const { id } of data) {
    const { links } = (await call(client, getMail, { params: { id } })).body
    const token = links.map((link) => tokenOfHub(link)).find((each) => each !== undefined)
    if (token !== undefined) return token
  }
  return undefined
}

/** The token in a link of the hub; an invitation has one too, which is none of the hub's. */
export function tokenOfHub(link: string): string | undefined {
  if (!URL.canParse(link)) return undefined
  const url = new URL(link)
  return url.pathname === '/hub' ? tokenIn(url) : undefined
}

/** A link works once, and ends with the one that signs in. */
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
    exit: EXIT.notFound,
    hint: `svc payer link ${quoted(contact)}\nto wait longer: svc payer verify --from-mail ${quoted(contact)} --wait 30s`,
    retryable: true,
  })
}
