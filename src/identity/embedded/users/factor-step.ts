import { clientAddressOf } from '../../../lib/client-address.ts'
import { loggedNetwork } from '../../../lib/network-hash.ts'
import type { FactorView } from '../pages/second-factor.ts'
import { formSourceOf } from '../pages/shell.ts'
import type { UserRecord } from '../record.ts'
import { creationOptions, relyingPartyOf } from './passkeys.ts'
import type { Ceremony } from './passkeys.ts'
import { listPasskeys } from './passkeys-sql.ts'
import type { Pending } from './pending-sign-in.ts'
import { textOf } from './sign-in-step.ts'
import type { Step } from './sign-in-step.ts'

export const WRONG_PASSKEY = 'This passkey was not accepted. Try again, or use another way.'

/** What every page of the second factor has. */
export function viewOf({ request, details, action }: Step): FactorView {
  return { theme: request.theme, action, formTargets: formSourceOf(textOf(details.params['redirect_uri'])) }
}

/** Null where browsers allow no passkeys. */
export function ceremonyOf({ request }: Step, { challenge }: Pick<Pending, 'challenge'>): Ceremony | null {
  const party = relyingPartyOf(request.parts.publicUrl)
  return party === null ? null : { party, challenge }
}

/** What the browser needs for a new passkey; undefined where browsers allow none. */
export async function creationOptionsOf(step: Step, pending: Pending, user: UserRecord): Promise<object | undefined> {
  const ceremony = ceremonyOf(step, pending)
  if (ceremony === null) return undefined
  const { parts, realm } = step.request
  const passkeys = await listPasskeys(parts.pool, user.id)
  return creationOptions(ceremony, { user, realmName: realm.display_name, passkeys })
}

/**
 * How a passkey was shown, as `amr` names it (RFC 8176): a key that several devices have is one in software. The
 * authenticator itself says which kind it is.
 */
export function methodsOf(isSynced: boolean): string[] {
  return [isSynced ? 'swk' : 'hwk', 'user']
}

/** Who failed, and where. */
export function logRejection({ request }: Step, user: UserRecord, event: { what: string; reason?: string }): void {
  const { parts, realm, req } = request
  const network = loggedNetwork(parts.networks(clientAddressOf(req, parts.config.trustProxy)))
  const { what, reason } = event
  parts.securityLog.info({ realm: realm.slug, sub: user.subject, network, reason }, `${what} rejected`)
}
