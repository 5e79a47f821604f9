import type { Ids } from '../../lib/ids.ts'
import type { Logger } from '../../observe/log.ts'

/** What the configuration says of the Keycloak that is used, and of what its realms are given. */
export type KeycloakSettings = {
  /** Its address, without a slash at the end; issuers are `{authUrl}/realms/<slug>`. */
  authUrl: string
  /** A client of the realm `master` whose service account may create realms, and needs no more than that. */
  clientId: string
  clientSecret: string
  sslRequired: 'none' | 'external' | 'all'
  /** The mail server that Keycloak sends invitations over; without one it sends none. */
  smtpUrl: string | undefined
  mailFrom: string
}

export type KeycloakParts = { settings: KeycloakSettings; ids: Pick<Ids, 'uuid'>; log: Logger }
