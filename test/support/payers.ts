import type { Answer, TestMerchant, TestService } from './app.ts'
import { createPayment } from './app.ts'
import { sendPayerLinks } from '../../src/payers/send-links.ts'

export const AUTH = '/api/v1/payer/auth'

/** Asks for a link and lets the job look at it, as a worker would. */
export async function askForLink(service: TestService, contact: object): Promise<Answer> {
  const answer = await service.call('POST', `${AUTH}/request-link`, { body: contact })
  await sendPayerLinks(service.app, new AbortController().signal)
  return answer
}

/** The messages of the outbox to one recipient, the newest first, as the sandbox shows them. */
export async function messagesTo(service: TestService, recipient: string): Promise<Answer['body'][]> {
  const query = new URLSearchParams({ recipient }).toString()
  const { body } = await service.call('GET', `/api/v1/sandbox/mails?${query}`)
  const read = body.data.map(({ id }: { id: string }) => service.call('GET', `/api/v1/sandbox/mails/${id}`))
  return (await Promise.all<Answer>(read)).map((answer) => answer.body)
}

/** The token in the last link that was sent to a contact. */
export async function lastToken(service: TestService, recipient: string): Promise<string> {
  const [message] = await messagesTo(service, recipient)
  const [link] = message?.links ?? []
  return new URL(link).hash.replace('#token=', '')
}

/** Gets a link's token for a contact that is on a payment. */
export async function linkToken(service: TestService, contact: { email: string } | { phone: string }): Promise<string> {
  await askForLink(service, contact)
  return lastToken(service, 'email' in contact ? contact.email : contact.phone)
}

export function verify(service: TestService, token: string): Promise<Answer> {
  return service.call('POST', `${AUTH}/verify`, { body: { token } })
}

/** The headers of a signed-in payer's requests. */
export type Session = { authorization: string }

/** Signs a payer in by a link. */
export async function signIn(service: TestService, contact: { email: string } | { phone: string }): Promise<Session> {
  const { body } = await verify(service, await linkToken(service, contact))
  return { authorization: `Bearer ${body.session_token}` }
}

/** A payment with a payer's contact on it, as a merchant makes it. */
export async function paymentOf(
  service: TestService,
  merchant: TestMerchant,
  changes: Record<string, unknown>,
): Promise<string> {
  const { body } = await createPayment(service, merchant, changes)
  return body.payment_id
}

/** An answer without what differs from one request to the next. */
export function comparable({ status, headers, body }: Answer): unknown {
  const { date: _date, 'x-request-id': _id, ...others } = headers
  const { request_id: _request, ...rest } = body
  return { status, headers: others, body: rest }
}
