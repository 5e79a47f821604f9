import type { CommonQueryMethods } from 'slonik'
import type { App } from '../../app.ts'
import { recordAction } from '../../audit/record-action.ts'
import type { Actor } from '../../audit/record.ts'
import { DomainError, invalidField } from '../../lib/errors.ts'
import type { SealContext } from '../../lib/seal.ts'
import { SoftwareStatementError, checkSoftwareStatement, datesOf, parseStatement } from '../software-statement.ts'
import type { SoftwareStatement } from '../software-statement.ts'
import { findStatement, putStatement } from './sql.ts'

const CURRENT = 'current'

export function softwareStatementContext(id: string): SealContext {
  return { table: 'bank_software_statements', column: 'statement', rowId: id, merchantId: 'platform' }
}

/** The software statement in use: that of the file, else the stored one. */
export type CurrentStatement = {
  statement: SoftwareStatement
  source: 'file' | 'database'
  setBy: string | null
  setAt: string | null
}

type StatementApp = Pick<App, 'sealer' | 'bankSetup'> & { pool: CommonQueryMethods }

export async function currentStatement(app: StatementApp): Promise<CurrentStatement | undefined> {
  const { fileStatement } = app.bankSetup
  if (fileStatement !== undefined) return { statement: fileStatement, source: 'file', setBy: null, setAt: null }
  const row = await findStatement(app.pool)
  if (row === null) return undefined
  const text = app.sealer.open(row.statement, softwareStatementContext(CURRENT))
  return { statement: parseStatement(JSON.parse(text)), source: 'database', setBy: row.set_by, setAt: row.set_at }
}

/** @throws {DomainError} SOFTWARE_STATEMENT_MISSING */
export async function needStatement(app: StatementApp): Promise<SoftwareStatement> {
  const current = await currentStatement(app)
  if (current !== undefined) return current.statement
  throw new DomainError('SOFTWARE_STATEMENT_MISSING', 'no software statement of the Open Banking directory is set', {
    next: 'set it: svc banks software-statement set',
  })
}

/**
 * Stores the software statement, sealed. Registrations of other software stay, and are not used.
 * @throws {DomainError} VALIDATION_FAILED; SOFTWARE_STATEMENT_IN_FILE
 */
export async function setSoftwareStatement(
  app: Pick<App, 'pool' | 'sealer' | 'bankSetup' | 'ids' | 'catalogue'>,
  { statement: given, reason, actor }: { statement: SoftwareStatement; reason: string; actor: Actor },
): Promise<CurrentStatement> {
  if (app.bankSetup.fileStatement !== undefined) {
    throw new DomainError('SOFTWARE_STATEMENT_IN_FILE', 'SVC_BANK_SOFTWARE_STATEMENT names a file, which is used', {
      next: 'change the file and restart, or leave the variable out',
    })
  }
  const statement = usable(given)
  const sealed = app.sealer.seal(JSON.stringify(statement), softwareStatementContext(CURRENT))
  await app.pool.transaction(async (tx) => {
    const before = await findStatement(tx)
    await putStatement(tx, { softwareId: statement.software_id, statement: sealed, setBy: actor.name })
    await recordAction(app, tx, {
      actor,
      action: 'bank_software_statement.set',
      merchantId: null,
      subjectId: statement.software_id,
      reason,
      before: before === null ? undefined : { software_id: before.software_id },
      after: { software_id: statement.software_id, org_id: statement.org_id, signing_kid: statement.signing.kid },
    })
  })
  await app.catalogue.refresh()
  const current = await currentStatement(app)
  if (current === undefined) throw new Error('the software statement that was stored is not there')
  return current
}

function usable(given: SoftwareStatement): SoftwareStatement {
  const statement = parsed(given)
  const { certificateEndsAt, ssaEndsAt } = datesOf(statement)
  if (certificateEndsAt.getTime() < Date.now())
    throw invalidField('transport.cert', 'EXPIRED', `ended at ${certificateEndsAt.toISOString()}`)
  if (ssaEndsAt !== undefined && ssaEndsAt.getTime() < Date.now())
    throw invalidField('ssa', 'EXPIRED', `ended at ${ssaEndsAt.toISOString()}`)
  return statement
}

function parsed(given: SoftwareStatement): SoftwareStatement {
  try {
    const statement = parseStatement(given)
    checkSoftwareStatement(statement)
    return statement
  } catch (error) {
    if (error instanceof SoftwareStatementError)
      throw invalidField(error.field, 'INVALID', error.message.slice(error.field.length + 2))
    throw error
  }
}
