import type { Client } from 'pg'
import { ACT_AS_ROLE, READ_ONLY } from './database-sql.ts'

/** The database of the service, which nothing is written to: one connection for all checks. */
export type Database = {
  url: string
  /** @throws an error in words where it can't be reached */
  connected(): Promise<void>
  /** One statement at a time, as the service's role where the login may. */
  rows(statement: string, values?: readonly string[]): Promise<readonly unknown[]>
  close(): Promise<void>
}

const CLOSING_MS = 500

export function openDatabase(url: string): Database {
  const opening = connect(url)
  let last: Promise<unknown> = opening
  const rows: Database['rows'] = (statement, values = []) => {
    const asked = last
      .catch(() => undefined)
      .then(() => opening)
      .then((client) => client.query(statement, [...values]))
    // Whoever asks is told of a failure; the next statement is asked in any case.
    last = asked
    asked.catch(() => undefined)
    return asked.then((result): unknown[] => result.rows)
  }
  opening.catch(() => undefined)
  return {
    url,
    connected: async () => void (await opening),
    rows,
    close: async () => {
      const late = new Promise<void>((resolve) => setTimeout(resolve, CLOSING_MS).unref())
      const ended = opening.then((client) => client.end()).catch(() => undefined)
      await Promise.race([ended, late])
    },
  }
}

async function connect(databaseUrl: string): Promise<Client> {
  const [{ RUNTIME_ROLE }, { makePgConnection }, { describeDatabaseError }] = await Promise.all([
    import('../../../src/app.ts'),
    import('../../../src/db/connection.ts'),
    import('../../../src/db/describe-error.ts'),
  ])
  try {
    const client = await makePgConnection({ databaseUrl, applicationName: 'svc doctor', onError: () => undefined })
    await client.query(READ_ONLY)
    await client.query(ACT_AS_ROLE, [RUNTIME_ROLE])
    return client
  } catch (cause) {
    throw new Error(describeDatabaseError(cause, databaseUrl), { cause })
  }
}
