import { checkDatabase } from './database.ts'
import { openDatabase } from './database-connection.ts'
import type { Database } from './database-connection.ts'
import type { Check } from './check.ts'
import { GROUPS, inGroup } from './groups.ts'
import type { Group, GroupedCheck } from './groups.ts'
import { checkProvider } from './identity.ts'
import { checkMachine } from './machine.ts'
import { checkMail } from './mail.ts'
import type { Patient } from './patient.ts'
import { checkService } from './service.ts'
import { checkWebhooks } from './webhooks.ts'
import { checkYou } from './you.ts'

const CHECKS: Readonly<Record<Group, (patient: Patient, database: Database | undefined) => Promise<Check[]>>> = {
  machine: checkMachine,
  service: checkService,
  database: checkDatabase,
  identity: checkProvider,
  mail: checkMail,
  webhooks: checkWebhooks,
  you: checkYou,
}

/** The groups that look into the database. */
const IN_DATABASE: ReadonlySet<Group> = new Set(['service', 'database', 'mail', 'webhooks'])

/** Looks over all of it at once, or over some groups, and tells it in the order of the groups. */
export async function examine(patient: Patient, only: readonly Group[] | undefined): Promise<GroupedCheck[]> {
  const groups = GROUPS.filter((group) => only === undefined || only.includes(group))
  const { databaseUrl } = patient
  const isAsked = databaseUrl !== undefined && groups.some((group) => IN_DATABASE.has(group))
  const database = isAsked ? openDatabase(databaseUrl) : undefined
  try {
    const found = await Promise.all(groups.map((group) => ofGroup(group, CHECKS[group](patient, database))))
    return found.flat()
  } finally {
    await database?.close()
  }
}

async function ofGroup(group: Group, checks: Promise<Check[]>): Promise<GroupedCheck[]> {
  return (await checks).map((check) => inGroup(group, check))
}
