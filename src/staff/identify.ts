import type { App } from '../app.ts'
import { findPlatformClient } from './clients-sql.ts'
import type { PlatformClient, PlatformUser } from './record.ts'
import { findPlatformUser, markSeen } from './users-sql.ts'

/** A client of the platform's realm; null for an id that is none's or was revoked. */
export function identifyStaffClient(app: Pick<App, 'pool'>, clientId: string): Promise<PlatformClient | null> {
  return findPlatformClient(app.pool, clientId)
}

/** The person of the platform's staff with this `sub`, active or not; null where the service knows nobody. */
export function identifyStaff(app: Pick<App, 'pool'>, subject: string): Promise<PlatformUser | null> {
  return findPlatformUser(app.pool, subject)
}

/** Keeps when a person was last here, to the minute. */
export function noteSeen(app: Pick<App, 'pool'>, userId: string): Promise<void> {
  return markSeen(app.pool, userId)
}
