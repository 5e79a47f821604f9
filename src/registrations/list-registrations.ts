import type { App } from '../app.ts'
import { ADMIN_ROLE_NOT_ASSIGNED } from './provision.ts'
import type { RegistrationRecord } from './record.ts'
import { listTroubledRegistrations } from './sql.ts'

const LISTED_MAX = 100

export type TroubledRegistration = { registration: RegistrationRecord; problems: string[] }

/**
 * Registrations that need an operator (decisions 47 and 48): incomplete, failed, or with an administrator who has no
 * role or no invitation.
 */
export async function listRegistrations(
  app: Pick<App, 'pool'>,
): Promise<{ registrations: TroubledRegistration[]; hasMore: boolean }> {
  const rows = await listTroubledRegistrations(app.pool, LISTED_MAX + 1)
  return {
    registrations: rows
      .slice(0, LISTED_MAX)
      .map((registration) => ({ registration, problems: problemsOf(registration) })),
    hasMore: rows.length > LISTED_MAX,
  }
}

/** The problems of a registration, as text. */
function problemsOf(registration: RegistrationRecord): string[] {
  const { status, failure } = registration
  const because = failure === null ? '' : `: ${failure}`
  if (status === 'FAILED') return [`it failed; its name is free again${because}`]
  if (status === 'PROVISIONING') return registration.is_underway ? [] : [`it was left incomplete${because}`]
  const waitsForInvite = registration.invited_at === null && registration.invite_due_at !== null
  return [
    ...(registration.warnings.includes(ADMIN_ROLE_NOT_ASSIGNED) ? ['its administrator has no role'] : []),
    ...(waitsForInvite && registration.invite_attempts > 0
      ? [`its administrator could not be invited in ${registration.invite_attempts} attempts${because}`]
      : []),
    ...(waitsForInvite && registration.invite_attempts === 0 && registration.invite_overdue
      ? ['its administrator has not been invited: no worker seems to be running']
      : []),
  ]
}
