import { isIP } from 'node:net'
import { z } from 'zod'
import type { BankAnswer, BankClient } from './bank-client.ts'
import type { BankProfile } from './profiles.ts'

const Endpoint = z.url({ protocol: /^https$/ })

/** What of a bank's OpenID configuration is used. */
const BankMetadata = z.object({
  issuer: z.string(),
  authorization_endpoint: Endpoint,
  token_endpoint: Endpoint,
  jwks_uri: Endpoint,
  registration_endpoint: Endpoint.optional(),
  pushed_authorization_request_endpoint: Endpoint.optional(),
  code_challenge_methods_supported: z.array(z.string()).default([]),
  /** The addresses for mutual TLS, where they are others (RFC 8705, 5). */
  mtls_endpoint_aliases: z
    .object({
      token_endpoint: Endpoint.optional(),
      registration_endpoint: Endpoint.optional(),
      pushed_authorization_request_endpoint: Endpoint.optional(),
    })
    .optional(),
})
export type BankMetadata = Omit<z.infer<typeof BankMetadata>, 'mtls_endpoint_aliases'>

/** The bank's answer is not what the standard says. The message is for operators. */
export class BankAnswerError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'BankAnswerError'
  }
}

type Bank = Pick<BankProfile, 'issuer' | 'discovery' | 'payments' | 'vrp' | 'hosts'>

/**
 * Asks for the bank's OpenID configuration.
 * @throws {BankAnswerError}
 * @throws {BankSilentError}
 */
export async function discover(client: Pick<BankClient, 'send'>, profile: Bank): Promise<BankMetadata> {
  const headers = { accept: 'application/json' }
  return readMetadata(await client.send({ method: 'GET', url: profile.discovery, headers }), profile)
}

/**
 * Reads the bank's OpenID configuration, with the addresses for mutual TLS in their places.
 * @throws {BankAnswerError} also where it is another issuer's or names a host that is not the bank's, which would let one
 *   bank answer for another, or have codes and assertions sent to a stranger
 */
export function readMetadata({ status, body }: Pick<BankAnswer, 'status' | 'body'>, profile: Bank): BankMetadata {
  if (status !== 200) throw new BankAnswerError(`${profile.discovery} answered ${status}`)
  const parsed = BankMetadata.safeParse(jsonOf(body))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new BankAnswerError(
      `${profile.discovery}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is not valid'}`,
    )
  }
  const { mtls_endpoint_aliases: aliases, ...metadata } = parsed.data
  if (metadata.issuer !== profile.issuer)
    throw new BankAnswerError(
      `${profile.discovery} is of the issuer ${metadata.issuer}, and the profile says ${profile.issuer}`,
    )
  const used = {
    ...metadata,
    token_endpoint: aliases?.token_endpoint ?? metadata.token_endpoint,
    registration_endpoint: aliases?.registration_endpoint ?? metadata.registration_endpoint,
    pushed_authorization_request_endpoint:
      aliases?.pushed_authorization_request_endpoint ?? metadata.pushed_authorization_request_endpoint,
  }
  requireOwnHosts(profile, used)
  return used
}

const ENDPOINTS = [
  'authorization_endpoint',
  'token_endpoint',
  'jwks_uri',
  'registration_endpoint',
  'pushed_authorization_request_endpoint',
] as const

/** The directory publishes the keys of banks that don't do so themselves. */
const DIRECTORY_KEYS = ['keystore.openbanking.org.uk', 'keystore.openbankingtest.org.uk']

function requireOwnHosts(profile: Bank, metadata: BankMetadata): void {
  const named = [profile.issuer, profile.discovery, profile.payments.base_url, profile.vrp?.base_url ?? profile.issuer]
  const sites = new Set(named.map((url) => siteOf(new URL(url).hostname)))
  for (const member of ENDPOINTS) {
    const { hostname } = new URL(metadata[member] ?? profile.issuer)
    const isOwn = sites.has(siteOf(hostname)) || profile.hosts.includes(hostname)
    if (isOwn || (member === 'jwks_uri' && DIRECTORY_KEYS.includes(hostname))) continue
    throw new BankAnswerError(
      `${profile.discovery}: ${member} is at ${hostname}, a host that the profile does not name: list it under hosts if it is the bank's`,
    )
  }
}

/** The domain that belongs to one owner, as far as the form of the name says: bank.co.uk of api.bank.co.uk. */
function siteOf(hostname: string): string {
  if (isIP(hostname.replaceAll(/[[\]]/g, '')) !== 0) return hostname
  const labels = hostname.split('.')
  const [above = '', top = ''] = labels.slice(-2)
  return labels.slice(top.length === 2 && above.length <= 3 ? -3 : -2).join('.')
}

/** The value of a JSON text; undefined for other texts. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
