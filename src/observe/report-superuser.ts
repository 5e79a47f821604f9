import type { App } from '../app.ts'
import { isSuperuser } from '../db/superuser-sql.ts'

/**
 * Logs at the start of live mode that the service's login is a superuser: an attacker in the process can then leave the role
 * svc_runtime, and with it the rules that protect the audit trail and the books.
 */
export async function reportSuperuser({ pool, config, log }: Pick<App, 'pool' | 'config' | 'log'>): Promise<void> {
  if (config.mode !== 'live' || !(await isSuperuser(pool))) return
  log.warn(
    'SVC_DATABASE_URL signs in as a superuser, which no rule of the database binds; use a login that is only a member of svc_merchant',
  )
}
