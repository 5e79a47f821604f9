import { checkDatabase } from './database.ts'
import { openDatabase } from './database-connection.ts'
import type { Database } from './database-connection.ts'
import type { Check } from './check.ts'
import { GROUPS, inGroup } from './groups.ts'
import type { Group, GroupedCheck } from './groups.ts'
import { checkProvider } from './identity.ts'
import { checkMachine } from './machine.ts'
import { checkMail } from './mail.ts'
import type { DoctorTarget } from './target.ts'
import { checkService } from './service.ts'
import { checkWebhooks } from './webhooks.ts'
import { checkClientSetup } from './client-setup.ts'

const CHECKS: Readonly<Record<Group, (target: DoctorTarget, database: Database | undefined) => Promise<Check[]>>> = {
  machine: checkMachine,
  service: checkService,
  database: checkDatabase,
  identity: checkProvider,
  mail: checkMail,
  webhooks: checkWebhooks,
  you: checkClientSetup,
}

/** The groups that look into the database. */
const IN_DATABASE: ReadonlySet<Group> = new Set(['service', 'database', 'mail', 'webhooks'])

/** Looks over all of it at once, or over some groups, and tells it in the order of the groups. */
export async function examine(target: DoctorTarget, only: readonly Group[] | undefined): Promise<GroupedCheck[]> {
  const groups = GROUPS.filter((group) => only === undefined || only.includes(group))
  const { databaseUrl } = target
  const isAsked = databaseUrl !== undefined && groups.some((group) => IN_DATABASE.has(group))
  const database = isAsked ? openDatabase(databaseUrl) : undefined
  try {
    const found = await Promise.all(groups.map((group) => ofGroup(group, CHECKS[group](target, database))))
    return found.flat()
  } finally {
    await database?.close()
  }
}

async function ofGroup(group: Group, checks: Promise<Check[]>): Promise<GroupedCheck[]> {
  return (await checks).map((check) => inGroup(group, check))
}
