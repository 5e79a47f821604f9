import type { IncomingMessage } from 'node:http'
import type { Bank } from './bank.ts'
import { BankError } from './bank-error.ts'
import { clientCertificateOf, isOfSoftware, thumbprintOf } from './client-certificate.ts'
import type { Operation } from './operations.ts'
import { verifyMessage } from './message-signature.ts'
import type { ResourceToken } from './resource.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const IDEMPOTENCY_KEY_LENGTH_MAX = 40

/**
 * The access token of a request: issued by this bank, bound to the certificate that the request comes with, for
 * payments, and of the kind that the operation takes.
 * @throws {BankError}
 */
export async function checkToken(
  req: IncomingMessage,
  { provider, books }: Pick<Bank, 'provider' | 'books'>,
  operation: Operation,
): Promise<ResourceToken> {
  const certificate = clientCertificateOf(req)
  if (certificate === undefined) throw new BankError('UK.OBIE.Unauthorised', 'a valid client certificate is required')
  const [, value] = /^Bearer (\S+)$/.exec(req.headers.authorization ?? '') ?? []
  if (value === undefined) throw new BankError('UK.OBIE.Unauthorised', 'a bearer token is required')
  const clientToken = await provider.ClientCredentials.find(value)
  const payerToken = clientToken ? undefined : await provider.AccessToken.find(value)
  const token = clientToken ?? payerToken
  if (token === undefined) throw new BankError('UK.OBIE.Unauthorised', 'the access token is unknown or has expired')
  if (token['x5t#S256'] !== thumbprintOf(certificate)) {
    throw new BankError('UK.OBIE.Unauthorised', 'the access token is bound to another certificate')
  }
  const registration = books.registrations.get(token.clientId ?? '')
  if (registration === undefined || !isOfSoftware(certificate, registration.softwareId)) {
    throw new BankError('UK.OBIE.Unauthorised', 'the certificate is not one of the client’s software')
  }
  if (!token.scopes.has('payments')) throw new BankError('UK.OBIE.Forbidden', 'the token lacks the scope payments')
  const kind = payerToken === undefined ? 'client' : 'payer'
  if (kind !== operation.token) {
    throw new BankError(
      'UK.OBIE.Forbidden',
      `${operation.name} takes a ${operation.token} token, this is a ${kind} token`,
    )
  }
  return { clientId: token.clientId ?? '', kind, grantId: payerToken?.grantId }
}

/** @throws {BankError} when a header that the profile demands is missing or wrong */
export function checkHeaders(
  req: IncomingMessage,
  operation: Operation,
  { quirks, orgId }: Pick<Bank, 'quirks' | 'orgId'>,
): void {
  const interactionId = headerOf(req, 'x-fapi-interaction-id')
  if (!UUID.test(interactionId)) throw new BankError('UK.OBIE.Header.Invalid', 'x-fapi-interaction-id is not a UUID')
  if (quirks.has('financial_id_required') && headerOf(req, 'x-fapi-financial-id') !== orgId) {
    throw new BankError('UK.OBIE.Header.Invalid', 'x-fapi-financial-id is not this bank’s')
  }
  if (!/^(application\/json\b|\*\/\*)/.test(req.headers.accept ?? '*/*')) {
    throw new BankError('UK.OBIE.NotAcceptable', 'answers are application/json')
  }
  if (operation.method !== 'POST') return
  if (!/^application\/json\s*(;\s*charset=utf-8\s*)?$/i.test(req.headers['content-type'] ?? '')) {
    throw new BankError('UK.OBIE.UnsupportedMediaType', 'bodies are application/json')
  }
  if (!operation.isIdempotent) return
  const key = headerOf(req, 'x-idempotency-key')
  if (key.length > IDEMPOTENCY_KEY_LENGTH_MAX || key.trim() !== key) {
    throw new BankError('UK.OBIE.Header.Invalid', 'x-idempotency-key has at most 40 characters and no blanks around')
  }
}

/** Verifies a body's signature with the keys that the directory lists for the client, and reads the body. */
export async function checkBody(
  req: IncomingMessage,
  { body, clientId, bank }: { body: Buffer; clientId: string; bank: Bank },
): Promise<unknown> {
  const registration = bank.books.registrations.get(clientId)
  if (registration === undefined) throw new BankError('UK.OBIE.Forbidden', 'the client is not registered')
  const { orgId, softwareId } = registration
  const signature = req.headers['x-jws-signature']
  await verifyMessage(body, Array.isArray(signature) ? signature[0] : signature, {
    keys: bank.directory.keysOf(softwareId),
    issuer: `${orgId}/${softwareId}`,
    b64: !bank.quirks.has('b64_header'),
  })
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (cause) {
    throw new BankError('UK.OBIE.Resource.InvalidFormat', 'the body is not JSON', { cause })
  }
}

export function headerOf(req: IncomingMessage, name: string): string {
  const value = req.headers[name]
  if (typeof value !== 'string' || value === '') throw new BankError('UK.OBIE.Header.Missing', `${name} is missing`)
  return value
}
