import { z } from 'zod'
import type { BankClient } from './bank-client.ts'
import { ALGORITHM, makeSigner } from './obie/signing.ts'
import { BankAnswerError, jsonOf } from './discovery.ts'
import type { BankMetadata } from './discovery.ts'
import type { BankProfile } from './profiles.ts'
import { certificateOf } from './software-statement.ts'
import type { SoftwareStatement } from './software-statement.ts'

const REQUEST_SECONDS = 300

/** What a registration asks for (UK Open Banking dynamic client registration 3.3). */
export type RegistrationClaims = Record<string, string | readonly string[] | boolean>

export function registrationClaims(
  profile: BankProfile,
  statement: SoftwareStatement,
  redirectUri: string,
): RegistrationClaims {
  const byCertificate = profile.client.token_auth === 'tls_client_auth'
  return {
    iss: statement.software_id,
    aud: profile.client.registration_audience ?? profile.issuer,
    software_id: statement.software_id,
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: profile.client.token_auth,
    ...(byCertificate
      ? { tls_client_auth_subject_dn: subjectOf(profile, statement) }
      : { token_endpoint_auth_signing_alg: ALGORITHM }),
    grant_types: ['client_credentials', 'authorization_code', 'refresh_token'],
    response_types: ['code id_token'],
    application_type: 'web',
    id_token_signed_response_alg: ALGORITHM,
    request_object_signing_alg: ALGORITHM,
    tls_client_certificate_bound_access_tokens: true,
    scope: 'openid payments',
  }
}

const Registered = z.object({ client_id: z.string().min(1).max(255) })
const Refused = z.object({ error: z.string(), error_description: z.string().optional() })
const DETAIL_MAX = 300

/**
 * Asks the bank for a client.
 * @returns the client id
 * @throws {BankAnswerError} with what the bank says
 * @throws {BankSilentError} whether the bank has made a client is then unknown
 */
export async function requestRegistration(
  client: BankClient,
  {
    profile,
    metadata,
    statement,
    claims,
  }: {
    profile: BankProfile
    metadata: BankMetadata
    statement: SoftwareStatement
    claims: RegistrationClaims
  },
): Promise<string> {
  const url = metadata.registration_endpoint
  if (url === undefined) throw new BankAnswerError('the bank announces no registration endpoint: register by hand')
  const body = await makeSigner(statement).jwt({
    ...claims,
    software_statement: statement.ssa,
    exp: Math.floor(Date.now() / 1_000) + REQUEST_SECONDS,
  })
  const contentType = profile.quirks.includes('registration_as_jose') ? 'application/jose' : 'application/jwt'
  const answer = await client.send({
    method: 'POST',
    url,
    headers: { 'content-type': contentType, accept: 'application/json' },
    body,
  })
  const json = jsonOf(answer.body)
  const registered = Registered.safeParse(json)
  if (answer.status === 201 && registered.success) return registered.data.client_id
  throw new BankAnswerError(`the bank answered ${answer.status}${errorTextOf(json)}`)
}

/** The bank's own words, cut: an answer that is no error of the standard may have anything in it, so it is left out. */
export function errorTextOf(json: unknown): string {
  const refused = Refused.safeParse(json)
  if (!refused.success) return ''
  const { error, error_description: detail } = refused.data
  return `: ${detail === undefined ? error : `${error} (${detail})`}`.slice(0, DETAIL_MAX)
}

/** The names that RFC 4514 has no short form for, as their object identifiers. */
const DOTTED: Readonly<Record<string, string>> = { organizationIdentifier: '2.5.4.97' }

/** The certificate's subject, the last part first (RFC 4514). */
function subjectOf(profile: BankProfile, statement: SoftwareStatement): string {
  const isDotted = profile.quirks.includes('dotted_organisation_id')
  return certificateOf(statement)
    .subject.split('\n')
    .toReversed()
    .map((part) => {
      const [name = '', ...value] = part.split('=')
      return `${(isDotted ? DOTTED[name] : undefined) ?? name}=${value.join('=').replaceAll(/[,+"\\<>;]/g, String.raw`\$&`)}`
    })
    .join(',')
}
