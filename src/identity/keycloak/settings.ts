import type { Ids } from '../../lib/ids.ts'
import type { Logger } from '../../observe/log.ts'

/** The configuration of the Keycloak in use and of its realms. */
export type KeycloakSettings = {
  /** Its address, without a slash at the end; issuers are `{authUrl}/realms/<slug>`. */
  authUrl: string
  /** A client of the realm `master` whose service account may create realms; it needs no other right. */
  clientId: string
  clientSecret: string
  sslRequired: 'none' | 'external' | 'all'
  /** The roles whose people must sign in with a second factor. */
  secondFactorRoles: ReadonlySet<string>
  /** The mail server for invitations; without one Keycloak sends none. */
  smtpUrl: string | undefined
  mailFrom: string
}

export type KeycloakParts = { settings: KeycloakSettings; ids: Pick<Ids, 'uuid'>; log: Logger }
