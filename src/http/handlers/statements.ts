import { formatNumeric } from '../../lib/money.ts'
import { creditReturnedRefund } from '../../statements/credit-returned-refund.ts'
import { importStatements } from '../../statements/import-statements.ts'
import { listStatementLines, listStatements, listUnmatchedMovements } from '../../statements/list-statements.ts'
import type { StatementLineRecord, StatementRecord } from '../../statements/record.ts'
import { resolveStatementLine } from '../../statements/resolve-statement-line.ts'
import type * as wire from '../../wire/statements.ts'
import type { Handlers } from '../endpoint.ts'
import { operatorOf } from '../principal.ts'
import { presentCorrection } from './ledger.ts'

export const statements: Handlers<typeof wire> = {
  /** POST /api/v1/admin/statements */
  async importStatements(app, { principal, body }) {
    const outcome = await importStatements(app, { ...body, actor: operatorOf(principal).actor })
    return {
      status: 200,
      body: {
        statements: outcome.statements.map(presentStatement),
        new_line_count: outcome.newLineCount,
        known_line_count: outcome.knownLineCount,
        matched_line_count: outcome.matchedLineCount,
        unmatched_line_count: outcome.unmatchedLineCount,
        returned_refund_count: outcome.returnedRefundCount,
      },
    }
  },

  /** GET /api/v1/admin/statements */
  async listStatements(app, { query }) {
    return pageBody(await listStatements(app, query), presentStatement)
  },

  /** GET /api/v1/admin/statement-lines */
  async listStatementLines(app, { query }) {
    return pageBody(await listStatementLines(app, query), presentLine)
  },

  /** GET /api/v1/admin/unmatched-movements */
  async listUnmatchedMovements(app, { query }) {
    return pageBody(await listUnmatchedMovements(app, query), (movement) => ({
      ...movement,
      amount: formatNumeric(movement.amount, movement.currency),
      created_at: new Date(movement.created_at).toISOString(),
    }))
  },

  /** PUT /api/v1/admin/statement-lines/{id}/resolution */
  async resolveStatementLine(app, { principal, params, body }) {
    const line = await resolveStatementLine(app, { ...body, id: params.id, actor: operatorOf(principal).actor })
    return { status: 200, body: presentLine(line) }
  },

  /** POST /api/v1/admin/statement-lines/{id}/credit */
  async creditReturnedRefund(app, { principal, params, body }) {
    const made = await creditReturnedRefund(app, { ...body, id: params.id, actor: operatorOf(principal).actor })
    return { status: 201, body: presentCorrection(made) }
  },
}

function pageBody<Row, Item>(
  { rows, nextCursor }: { rows: readonly Row[]; nextCursor: string | null },
  present: (row: Row) => Item,
): { status: 200; body: { data: Item[]; has_more: boolean; next_cursor: string | null } } {
  return {
    status: 200,
    body: { data: rows.map((row) => present(row)), has_more: nextCursor !== null, next_cursor: nextCursor },
  }
}

function presentStatement(statement: StatementRecord): wire.Statement {
  const { currency, opening_amount: opening, closing_amount: closing } = statement
  return {
    ...statement,
    opening_amount: opening === null || currency === null ? null : formatNumeric(opening, currency),
    closing_amount: closing === null || currency === null ? null : formatNumeric(closing, currency),
  }
}

function presentLine(line: StatementLineRecord): wire.StatementLine {
  return { ...line, amount: formatNumeric(line.amount, line.currency) }
}
