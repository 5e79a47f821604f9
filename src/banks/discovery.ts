import { z } from 'zod'
import type { BankClient } from './bank-client.ts'
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

/**
 * Reads the bank's OpenID configuration, with the addresses for mutual TLS in their places.
 * @throws {BankAnswerError} also where it is another issuer's, which would let one bank answer for another
 * @throws {BankSilentError}
 */
export async function discover(
  client: Pick<BankClient, 'send'>,
  profile: Pick<BankProfile, 'issuer' | 'discovery'>,
): Promise<BankMetadata> {
  const { status, body } = await client.send({
    method: 'GET',
    url: profile.discovery,
    headers: { accept: 'application/json' },
  })
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
  return {
    ...metadata,
    token_endpoint: aliases?.token_endpoint ?? metadata.token_endpoint,
    registration_endpoint: aliases?.registration_endpoint ?? metadata.registration_endpoint,
    pushed_authorization_request_endpoint:
      aliases?.pushed_authorization_request_endpoint ?? metadata.pushed_authorization_request_endpoint,
  }
}

/** The value of a JSON text; undefined for other texts. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
