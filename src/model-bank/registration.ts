import type { IncomingMessage, ServerResponse } from 'node:http'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { z } from 'zod'
import { SCOPES } from './authorisation-server.ts'
import type { Bank } from './bank.ts'
import { clientCertificateOf, hasSubject, isOfSoftware } from './client-certificate.ts'
import type { SoftwareStatement } from './directory.ts'
import { readBody } from './read-body.ts'
import { registerClient } from './register-client.ts'
import { sendJson } from './send-json.ts'
import { SIGNING_ALGORITHM } from './signing-keys.ts'

const CONTENT_TYPES = ['application/jwt', 'application/jose']
const CONTENT_TYPE = /^(application\/(?:jwt|jose))\s*(;|$)/

/** The claims of a registration request that the bank reads (dynamic client registration 3.3). */
const RegistrationRequest = z.object({
  iss: z.string(),
  aud: z.string(),
  iat: z.number(),
  exp: z.number(),
  jti: z.string(),
  software_statement: z.string(),
  redirect_uris: z.array(z.string()).min(1),
  token_endpoint_auth_method: z.enum(['private_key_jwt', 'tls_client_auth']),
  token_endpoint_auth_signing_alg: z.literal(SIGNING_ALGORITHM).optional(),
  tls_client_auth_subject_dn: z.string().optional(),
  grant_types: z.array(z.enum(['client_credentials', 'authorization_code', 'refresh_token'])),
  response_types: z.array(z.literal('code id_token')).default(['code id_token']),
  application_type: z.literal('web'),
  id_token_signed_response_alg: z.literal(SIGNING_ALGORITHM),
  request_object_signing_alg: z.literal(SIGNING_ALGORITHM),
  scope: z.string(),
  software_id: z.string().optional(),
})
type RegistrationRequest = z.infer<typeof RegistrationRequest>

type RegistrationErrorCode =
  | 'invalid_client_metadata'
  | 'invalid_redirect_uri'
  | 'invalid_software_statement'
  | 'unapproved_software_statement'
  | 'invalid_request'

class RegistrationError extends Error {
  readonly code: RegistrationErrorCode
  constructor(code: RegistrationErrorCode, message: string, options?: { cause: unknown }) {
    super(message, options)
    this.code = code
  }
}

/** POST /register: a signed request with a software statement makes a client. */
export async function answerRegistration(bank: Bank, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const certificate = clientCertificateOf(req)
  if (certificate === undefined)
    return sendJson(res, 401, { error: 'invalid_client', error_description: 'mutual TLS is required' })
  try {
    const [, contentType] = CONTENT_TYPE.exec(req.headers['content-type'] ?? '') ?? []
    const expected = bank.quirks.has('registration_as_jose') ? ['application/jose'] : CONTENT_TYPES
    if (contentType === undefined || !expected.includes(contentType)) {
      throw new RegistrationError('invalid_request', `send ${expected.join(' or ')}`)
    }
    const { request, statement } = await readRequest(bank, (await readBody(req)).toString('utf8'))
    if (!isOfSoftware(certificate, statement.software_id)) {
      throw new RegistrationError('invalid_client_metadata', 'the certificate is not one of the software’s')
    }
    const subject = request.tls_client_auth_subject_dn
    const isUnreadable = bank.quirks.has('dotted_organisation_id') && subject?.includes('organizationIdentifier')
    if (subject !== undefined && (isUnreadable || !hasSubject(certificate, subject))) {
      throw new RegistrationError(
        'invalid_client_metadata',
        'tls_client_auth_subject_dn is not the certificate’s subject',
      )
    }
    sendJson(res, 201, register(bank, request, statement))
  } catch (error) {
    if (!(error instanceof RegistrationError)) throw error
    sendJson(res, 400, { error: error.code, error_description: error.message })
  }
}

/** @throws {RegistrationError} */
async function readRequest(
  bank: Bank,
  text: string,
): Promise<{ request: RegistrationRequest; statement: SoftwareStatement }> {
  const unverified = z.object({ software_statement: z.string() }).safeParse(payloadOf(text))
  if (!unverified.success) throw new RegistrationError('invalid_software_statement', 'software_statement is missing')
  const statement = await bank.directory.readStatement(unverified.data.software_statement).catch((cause: unknown) => {
    throw new RegistrationError('invalid_software_statement', 'the directory did not sign it, or it has expired', {
      cause,
    })
  })
  const keys = createLocalJWKSet(bank.directory.keysOf(statement.software_id))
  const claims = { issuer: statement.software_id, audience: bank.issuer, algorithms: [SIGNING_ALGORITHM] }
  const { payload } = await jwtVerify(text, keys, claims).catch((cause: unknown) => {
    throw new RegistrationError('invalid_client_metadata', `the request does not verify: ${String(cause)}`, { cause })
  })
  const parsed = RegistrationRequest.safeParse(payload)
  if (!parsed.success) throw new RegistrationError('invalid_client_metadata', z.prettifyError(parsed.error))
  checkAgainstStatement(parsed.data, statement)
  return { request: parsed.data, statement }
}

function checkAgainstStatement(request: RegistrationRequest, statement: SoftwareStatement): void {
  const foreign = request.redirect_uris.find((uri) => !statement.software_redirect_uris.includes(uri))
  if (foreign !== undefined)
    throw new RegistrationError('invalid_redirect_uri', `${foreign} is not in the software statement`)
  if (!statement.software_roles.includes('PISP')) {
    throw new RegistrationError('unapproved_software_statement', 'the software has no role PISP')
  }
  const scope = request.scope.split(' ')
  if (SCOPES.some((each) => !scope.includes(each)) || scope.some((each) => !SCOPES.includes(each))) {
    throw new RegistrationError('invalid_client_metadata', `scope must be ${SCOPES.join(' ')}`)
  }
  if (request.token_endpoint_auth_method === 'tls_client_auth' && request.tls_client_auth_subject_dn === undefined) {
    throw new RegistrationError('invalid_client_metadata', 'tls_client_auth needs tls_client_auth_subject_dn')
  }
}

function payloadOf(jwt: string): unknown {
  try {
    return JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString('utf8'))
  } catch (cause) {
    throw new RegistrationError('invalid_client_metadata', 'the body is not a JWT', { cause })
  }
}

function register(bank: Bank, request: RegistrationRequest, statement: SoftwareStatement): Record<string, unknown> {
  const { clientId, metadata } = registerClient(bank.books, {
    orgId: statement.org_id,
    softwareId: statement.software_id,
    redirectUris: request.redirect_uris,
    authMethod: request.token_endpoint_auth_method,
    subject: request.tls_client_auth_subject_dn,
    grantTypes: request.grant_types,
  })
  return {
    ...metadata,
    grant_types: request.grant_types,
    application_type: 'web',
    client_id: clientId,
    client_id_issued_at: Math.floor(Date.now() / 1_000),
    software_id: statement.software_id,
    software_statement: request.software_statement,
  }
}
