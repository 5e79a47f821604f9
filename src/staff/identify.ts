import type { App } from '../app.ts'
import { findPlatformClient } from './clients-sql.ts'
import type { PlatformClient, PlatformUser } from './record.ts'
import { findPlatformUser, markSeen } from './users-sql.ts'

/** A client of the platform's realm; null for an unknown or revoked id. */
export function identifyStaffClient(app: Pick<App, 'pool'>, clientId: string): Promise<PlatformClient | null> {
  return findPlatformClient(app.pool, clientId)
}

/** The staff member with this `sub`, active or not; null if unknown. */
export function identifyStaff(app: Pick<App, 'pool'>, subject: string): Promise<PlatformUser | null> {
  return findPlatformUser(app.pool, subject)
}

/** Records when a staff member was last active, to the minute. */
export function noteSeen(app: Pick<App, 'pool'>, userId: string): Promise<void> {
  return markSeen(app.pool, userId)
}
