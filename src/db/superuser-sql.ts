import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from './sql.ts'

/** Whether the login of this connection is a superuser, whatever role it has taken since. */
export async function isSuperuser(tx: CommonQueryMethods): Promise<boolean> {
  const { rolsuper } = await tx.one(sql.type(z.object({ rolsuper: z.boolean() }))`
    select rolsuper from pg_roles where rolname = session_user
  `)
  return rolsuper
}
