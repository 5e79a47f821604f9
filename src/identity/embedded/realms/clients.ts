import { createHash, timingSafeEqual } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { AdapterPayload } from 'oidc-provider'
import { portalAddressesOf } from '../../../lib/realms.ts'
import type { PortalAddresses } from '../../../lib/realms.ts'
import { ClientExistsError } from '../../provider.ts'
import type { ServiceClientSpec } from '../../provider.ts'
import { deleteClientRow, findClient, insertClient, updateSecretHash } from './clients-sql.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { ClientRecord } from '../record.ts'

/** Redirect addresses of a terminal on the same machine, on any port (RFC 8252). */
const LOOPBACK_REDIRECTS = ['http://127.0.0.1/callback', 'http://[::1]/callback', 'http://localhost/callback']

export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

/** Secrets are 256 random bits, so one round of SHA-256 is as hard to reverse as a slow hash. */
function hashSecret(secret: string): string {
  return createHash('sha256').update(secret, 'utf8').digest('hex')
}

/** Whether the secret has this hash, in constant time. */
export function isSecretOf(secret: string, secretHash: string): boolean {
  return timingSafeEqual(Buffer.from(hashSecret(secret), 'hex'), Buffer.from(secretHash, 'hex'))
}

type PortalClient = PortalAddresses & { clientId: string }

/**
 * The client of a portal. Addresses equal to those of our own portal are not stored but taken from the configuration
 * when the client is read, so that changing the port or URL keeps sign-in working.
 */
export function portalClient(parts: PortalParts, slug: string, { clientId, ...addresses }: PortalClient): ClientRecord {
  const isOurs = isDeepStrictEqual(addresses, portalAddressesOf(slug, configuredAddresses(parts)))
  return {
    client_id: clientId,
    kind: 'portal',
    secret_hash: null,
    redirect_uris: isOurs ? [] : addresses.redirectUris,
    post_logout_redirect_uris: isOurs ? [] : addresses.postLogoutRedirectUris,
    web_origins: isOurs ? [] : addresses.webOrigins,
    follows_configuration: isOurs,
    roles: [],
  }
}

type PortalParts = Pick<EmbeddedParts, 'config' | 'publicUrl'>

function configuredAddresses({ config, publicUrl }: PortalParts) {
  return { publicUrl, portalUrl: config.portalUrl }
}

/** The origin of the realm's configured portal. */
export function portalOriginOf(parts: PortalParts, slug: string): string | undefined {
  return portalAddressesOf(slug, configuredAddresses(parts)).webOrigins[0]
}

/** The characters that the protocol allows in a client id; other ids never reach the database. */
const CLIENT_ID = /^[\x20-\x7e]{1,255}$/

/** The client with its current addresses; null if it does not exist. */
export async function readClient(
  parts: PortalParts & Pick<EmbeddedParts, 'pool'>,
  realm: string,
  clientId: string,
): Promise<ClientRecord | null> {
  const client = CLIENT_ID.test(clientId) ? await findClient(parts.pool, realm, clientId) : null
  if (client === null || !client.follows_configuration) return client
  const { redirectUris, postLogoutRedirectUris, webOrigins } = portalAddressesOf(realm, configuredAddresses(parts))
  return {
    ...client,
    redirect_uris: redirectUris,
    post_logout_redirect_uris: postLogoutRedirectUris,
    web_origins: webOrigins,
  }
}

export function cliClient({ clientId }: { clientId: string }): ClientRecord {
  return {
    client_id: clientId,
    kind: 'cli',
    secret_hash: null,
    redirect_uris: LOOPBACK_REDIRECTS,
    post_logout_redirect_uris: LOOPBACK_REDIRECTS,
    web_origins: [],
    follows_configuration: false,
    roles: [],
  }
}

export function serviceClient({ clientId, secret, roles }: ServiceClientSpec): ClientRecord {
  return {
    client_id: clientId,
    kind: 'service',
    secret_hash: hashSecret(secret),
    redirect_uris: [],
    post_logout_redirect_uris: [],
    web_origins: [],
    follows_configuration: false,
    roles: [...roles],
  }
}

/** Our own metadata members of a client; `configuration.ts` registers them with the library. */
export const OWN_CLIENT_MEMBERS = ['svc_web_origins', 'svc_roles']

/** A client in the protocol library's form. */
export function metadataOf(client: ClientRecord): AdapterPayload {
  const own = { svc_web_origins: client.web_origins, svc_roles: client.roles }
  const common = { client_id: client.client_id, client_name: client.client_id, ...own }
  if (client.kind === 'service') {
    return {
      ...common,
      client_secret: client.secret_hash ?? '',
      grant_types: ['client_credentials'],
      response_types: [],
      redirect_uris: [],
      token_endpoint_auth_method: 'client_secret_basic',
    }
  }
  // A portal without an address can't sign anyone in, which is not an error.
  const canSignIn = client.redirect_uris.length > 0
  return {
    ...common,
    application_type: client.kind === 'cli' ? 'native' : 'web',
    grant_types: [
      ...(canSignIn ? ['authorization_code'] : []),
      'refresh_token',
      ...(client.kind === 'cli' ? [DEVICE_GRANT] : []),
    ],
    response_types: canSignIn ? ['code'] : [],
    redirect_uris: client.redirect_uris,
    post_logout_redirect_uris: client.post_logout_redirect_uris,
    token_endpoint_auth_method: 'none',
  }
}

/** @throws {ClientExistsError} */
export async function createServiceClient(
  { pool }: EmbeddedParts,
  slug: string,
  client: ServiceClientSpec,
): Promise<void> {
  const isNew = await insertClient(pool, slug, serviceClient(client))
  if (!isNew) throw new ClientExistsError(`realm ${slug} already has a client ${client.clientId}, or does not exist`)
}

/** @throws if the service client does not exist */
export async function rotateServiceSecret(
  { pool }: EmbeddedParts,
  slug: string,
  { clientId, secret }: { clientId: string; secret: string },
): Promise<void> {
  const isUpdated = await updateSecretHash(pool, slug, { clientId, secretHash: hashSecret(secret) })
  if (!isUpdated) throw new Error(`realm ${slug} has no service client ${clientId}`)
}

export function deleteClient({ pool }: EmbeddedParts, slug: string, clientId: string): Promise<void> {
  return deleteClientRow(pool, slug, clientId)
}
