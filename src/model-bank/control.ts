import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import type { Bank } from './bank.ts'
import { moveConsent } from './books.ts'
import type { Payment } from './books.ts'
import { SERVER_HOSTS, issueServerCertificate, issueTransportCertificate, makeAuthority } from './certificates.ts'
import type { Authority } from './certificates.ts'
import { settleIfDue } from './clearing.ts'
import { FAULT_NAMES, Fault } from './faults.ts'
import { QUIRK_NAMES, isQuirk } from './quirks.ts'
import { readBody } from './read-body.ts'
import { registerClient } from './register-client.ts'
import { sendJson } from './send-json.ts'
import { makeSigningKey } from './signing-keys.ts'

type ControlRequest = { bank: Bank; authority: Authority; id: string; body: unknown }
type ControlRoute = { route: RegExp; answer: (request: ControlRequest) => unknown }

class ControlError extends Error {}

const QuirkNames = z.array(z.string().refine(isQuirk, { error: 'not a quirk' }))
const Certificate = z.strictObject({ valid_days: z.number().default(90), software_id: z.string().optional() })
const NewRegistration = z.strictObject({
  redirect_uris: z.array(z.string()).min(1),
  token_auth: z.enum(['private_key_jwt', 'tls_client_auth']).default('private_key_jwt'),
  subject: z.string().optional(),
})

/** Each is a method and a path; the one group is an id. */
const ROUTES: readonly ControlRoute[] = [
  { route: /^GET \/books$/, answer: ({ bank }) => showBooks(bank) },
  { route: /^GET \/calls$/, answer: ({ bank }) => bank.calls.list() },
  { route: /^GET \/faults$/, answer: ({ bank }) => ({ active: bank.faults.list(), known: FAULT_NAMES }) },
  { route: /^POST \/faults$/, answer: addFault },
  { route: /^DELETE \/faults$/, answer: ({ bank }) => bank.faults.clear() },
  { route: /^GET \/quirks$/, answer: ({ bank }) => ({ active: [...bank.quirks], known: QUIRK_NAMES }) },
  { route: /^PUT \/quirks$/, answer: setQuirks },
  { route: /^POST \/payments\/([\w-]+)\/settle$/, answer: (request) => endPayment(request, 'ACSC') },
  { route: /^POST \/payments\/([\w-]+)\/reject$/, answer: (request) => endPayment(request, 'RJCT') },
  { route: /^POST \/consents\/([\w-]+)\/revoke$/, answer: revokeConsent },
  { route: /^DELETE \/tokens$/, answer: ({ bank }) => bank.endAccessTokens() },
  { route: /^POST \/message-keys$/, answer: rotateMessageKey },
  { route: /^POST \/server-certificate$/, answer: replaceCertificate },
  { route: /^POST \/directory\/certificates$/, answer: issueCertificate },
  { route: /^POST \/directory\/signing-keys$/, answer: addSigningKey },
  {
    route: /^DELETE \/directory\/signing-keys\/([\w-]+)$/,
    answer: ({ bank, id }) => bank.directory.removeSigningKey(id),
  },
  { route: /^POST \/registrations$/, answer: registerByHand },
  { route: /^DELETE \/registrations$/, answer: ({ bank }) => bank.books.registrations.clear() },
]

/** The control port: plain HTTP on the loopback address, for tests, and for operators who try out how a bank fails. */
export async function answerControl(
  { bank, authority }: { bank: Bank; authority: Authority },
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const called = `${req.method ?? ''} ${req.url ?? ''}`
  const found = ROUTES.find(({ route }) => route.test(called))
  if (found === undefined) return sendJson(res, 404, { error: `no control route ${called}` })
  const text = (await readBody(req)).toString('utf8')
  try {
    const body: unknown = text === '' ? {} : JSON.parse(text)
    const answer = await found.answer({ bank, authority, id: found.route.exec(called)?.[1] ?? '', body })
    sendJson(res, 200, answer ?? {})
  } catch (error) {
    if (error instanceof z.ZodError) return sendJson(res, 400, { error: z.prettifyError(error) })
    if (error instanceof ControlError || error instanceof SyntaxError)
      return sendJson(res, 400, { error: error.message })
    throw error
  }
}

function addFault({ bank, body }: ControlRequest): unknown {
  bank.faults.add(Fault.parse(body))
  return { active: bank.faults.list() }
}

function setQuirks({ bank, body }: ControlRequest): unknown {
  const names = QuirkNames.parse(body).filter(isQuirk)
  bank.quirks.clear()
  for (const name of names) bank.quirks.add(name)
  return { active: [...bank.quirks] }
}

function endPayment({ bank, id }: ControlRequest, status: 'ACSC' | 'RJCT'): Payment {
  const payment = bank.books.payments.get(id)
  if (payment?.due === undefined) throw new ControlError(`no payment ${id} is in process`)
  payment.due = { at: Date.now(), status, ...(status === 'RJCT' ? { reasonCode: 'AC04' } : {}) }
  settleIfDue(payment)
  return payment
}

/** As a payer does in the bank's own application. */
function revokeConsent({ bank, id }: ControlRequest): unknown {
  const consent = bank.books.consents.get(id)
  if (consent === undefined) throw new ControlError(`no consent ${id}`)
  moveConsent(consent, 'revoked')
  return consent
}

/** Another certificate for mutual TLS; with `valid_days` below zero one that has expired. */
function issueCertificate({ bank, authority, body }: ControlRequest): Promise<unknown> {
  const { valid_days: validDays, software_id: softwareId } = Certificate.parse(body)
  const { software } = bank.directory
  return issueTransportCertificate(authority, {
    orgId: software.orgId,
    softwareId: softwareId ?? software.softwareId,
    validDays,
  })
}

/** The bank signs with a new key from now on, and withdraws the one before. */
async function rotateMessageKey({ bank }: ControlRequest): Promise<unknown> {
  bank.messageKeys.splice(0, bank.messageKeys.length, await makeSigningKey())
  return { kid: bank.messageKeys[0]?.kid }
}

const ServerCertificate = z.strictObject({
  valid_days: z.number().default(90),
  trusted: z.boolean().default(true),
  hosts: z.array(z.string()).min(1).default(SERVER_HOSTS),
})

/** The bank's own certificate: renewed, expired, for another host, or from an authority that the client does not know. */
async function replaceCertificate({ bank, authority, body }: ControlRequest): Promise<void> {
  const { valid_days: validDays, trusted, hosts } = ServerCertificate.parse(body)
  const issuer = trusted ? authority : await makeAuthority()
  bank.useCertificate(await issueServerCertificate(issuer, { hosts, validDays }))
}

async function addSigningKey({ bank }: ControlRequest): Promise<unknown> {
  const { kid, pem } = await bank.directory.addSigningKey()
  return { kid, key: pem }
}

function registerByHand({ bank, body }: ControlRequest): unknown {
  const { redirect_uris: redirectUris, token_auth: authMethod, subject } = NewRegistration.parse(body)
  const { orgId, softwareId } = bank.directory.software
  const grantTypes = ['client_credentials', 'authorization_code', 'refresh_token']
  const client = registerClient(bank.books, { orgId, softwareId, redirectUris, authMethod, subject, grantTypes })
  return { client_id: client.clientId }
}

function showBooks({ books }: Bank): Record<string, unknown> {
  for (const payment of books.payments.values()) settleIfDue(payment)
  return {
    registrations: [...books.registrations.values()],
    accounts: books.accounts,
    consents: [...books.consents.values()],
    payments: [...books.payments.values()],
  }
}
