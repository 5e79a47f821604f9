import { SCOPES } from './authorisation-server.ts'
import { newId } from './books.ts'
import type { Books, Registration } from './books.ts'
import { SIGNING_ALGORITHM } from './signing-keys.ts'

/** Enters a client, with the members that the protocol library reads. */
export function registerClient(
  books: Books,
  client: {
    orgId: string
    softwareId: string
    redirectUris: readonly string[]
    authMethod: 'private_key_jwt' | 'tls_client_auth'
    subject: string | undefined
    grantTypes: readonly string[]
  },
): Registration {
  const isTls = client.authMethod === 'tls_client_auth'
  const registration: Registration = {
    clientId: newId('client'),
    orgId: client.orgId,
    softwareId: client.softwareId,
    registeredAt: new Date().toISOString(),
    metadata: {
      redirect_uris: client.redirectUris,
      token_endpoint_auth_method: client.authMethod,
      ...(isTls
        ? { tls_client_auth_subject_dn: client.subject }
        : { token_endpoint_auth_signing_alg: SIGNING_ALGORITHM }),
      // The library counts the hybrid flow as implicit as well.
      grant_types: [...new Set([...client.grantTypes, 'implicit'])],
      response_types: ['code id_token'],
      // Plain addresses of one's own machine are for native applications with the library; that the address is exactly
      // one that was registered is checked with each request object.
      application_type: client.redirectUris.some((uri) => uri.startsWith('http:')) ? 'native' : 'web',
      id_token_signed_response_alg: SIGNING_ALGORITHM,
      request_object_signing_alg: SIGNING_ALGORITHM,
      scope: SCOPES.join(' '),
      tls_client_certificate_bound_access_tokens: true,
      require_auth_time: true,
    },
  }
  books.registrations.set(registration.clientId, registration)
  return registration
}
