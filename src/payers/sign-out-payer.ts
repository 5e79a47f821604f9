import type { App } from '../app.ts'
import type { PayerSessionRecord } from './record.ts'
import { insertEndedSession } from './sign-in-sql.ts'

/** Ends a session: its token is rejected from then on. */
export async function signOutPayer(app: Pick<App, 'pool'>, session: PayerSessionRecord): Promise<void> {
  await insertEndedSession(app.pool, session)
}
