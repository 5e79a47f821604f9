import type { CommonQueryMethods } from 'slonik'
import type { Sealer } from '../lib/seal.ts'
import type { Logger } from '../observe/log.ts'
import { currentStatement } from './connections/software-statement.ts'
import { listRegistrations } from './connections/sql.ts'
import type { BankProfile } from './profiles.ts'
import type { BankSetup } from './setup.ts'
import type { SoftwareStatement } from './software-statement.ts'

/** What the platform is to banks at the moment. */
export type Platform = {
  /** The same object until another is set. */
  statement(): SoftwareStatement | undefined
  /** Our client id at a bank; undefined before we are registered there. */
  clientId(profile: BankProfile): string | undefined
  /** Looks at once: for the process that has changed something. */
  refresh(): Promise<void>
  /** Ends looking. */
  stop(): void
}

type Parts = { pool: CommonQueryMethods; sealer: Sealer; bankSetup: BankSetup; log: Logger }

/** So soon every process uses a software statement, or a registration, that another one has stored. */
const LOOK_AGAIN_MS = 2_000

/** Reads what the database has of the software statement and the registrations, and looks again while the process runs. */
export async function watchPlatform({ log, ...parts }: Parts): Promise<Platform> {
  let known = await readPlatform(parts)
  let isStopped = false
  const refresh = async (): Promise<void> => {
    const read = await readPlatform(parts)
    known = read.setAt === known.setAt ? { ...read, statement: known.statement } : read
  }
  const look = (): void => {
    refresh().catch((error: unknown) => {
      if (!isStopped) log.warn({ err: error }, 'what the platform is to banks could not be read')
    })
  }
  const timer = setInterval(look, LOOK_AGAIN_MS).unref()
  return {
    statement: () => known.statement,
    clientId: ({ id, client }) => (client.registration === 'manual' ? client.client_id : known.clientIds.get(id)),
    refresh,
    stop: () => {
      isStopped = true
      clearInterval(timer)
    },
  }
}

async function readPlatform(parts: Omit<Parts, 'log'>) {
  const current = await currentStatement(parts)
  const softwareId = current?.statement.software_id
  const registrations = softwareId === undefined ? [] : await listRegistrations(parts.pool, softwareId)
  return {
    statement: current?.statement,
    setAt: current?.setAt,
    clientIds: new Map(registrations.map(({ bank_id: bankId, client_id: clientId }) => [bankId, clientId])),
  }
}
