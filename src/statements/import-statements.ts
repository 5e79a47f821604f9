import { createHash } from 'node:crypto'
import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { invalidField } from '../lib/errors.ts'
import { UnreadableFile } from '../lib/file-text.ts'
import type { BankFile, BankLine, BankStatement } from './bank-file.ts'
import { announcePayout } from '../payouts/move.ts'
import { announceRefund } from '../payments/refunds/execute-refund.ts'
import { confirmPayouts } from './confirm-payouts.ts'
import { confirmRefunds } from './confirm-refunds.ts'
import { matchById, matchByReferences } from './match-open-lines.ts'
import { ownAccounts, withOwnAccounts } from './own-accounts.ts'
import { readCamt } from './read-camt.ts'
import { readCsv } from './read-csv.ts'
import type { CsvForm } from './read-csv.ts'
import type { StatementRecord } from './record.ts'
import {
  countUnmatchedLines,
  insertLines,
  insertStatement,
  listKnownHashes,
  listStatementsOfFile,
  lockStatements,
  openLinesOfFailed,
} from './sql.ts'

export type ImportStatementsInput = { content: string; csv?: CsvForm | undefined; actor: Actor }

export type ImportOutcome = {
  statements: readonly StatementRecord[]
  newLineCount: number
  knownLineCount: number
  matchedLineCount: number
  unmatchedLineCount: number
  /** Refunds that have come back. */
  returnedRefundCount: number
}

/**
 * Imports a bank's file, matches every open line of the last imports, and confirms the payouts and refunds among them. A file,
 * and a line, that was imported before is not imported again (decision 255). What lines are by their reference is found
 * after the commit (decision 444).
 * @throws {DomainError} VALIDATION_FAILED at `content` or `csv`, naming the line, the entry or the account
 */
export async function importStatements(
  app: Pick<App, 'pool' | 'ids' | 'sealer' | 'config' | 'log' | 'metrics' | 'wake'>,
  { content, csv, actor }: ImportStatementsInput,
): Promise<ImportOutcome> {
  const file = withOwnAccounts(app.config, readFile(content, csv))
  const fileHash = hashOf(csv === undefined ? content : `${content}\n${formText(csv, file)}`)
  const { moved, refunded, ...outcome } = await app.pool.transaction(async (tx) => {
    await lockStatements(tx)
    const before = await listStatementsOfFile(tx, fileHash)
    const statements = before.length > 0 ? before : await insertFile(app, tx, { file, fileHash, actor })
    const newLineCount = before.length > 0 ? 0 : sum(statements.map(({ new_line_count }) => new_line_count))
    const matched = await matchById(tx, ownAccounts(app.config))
    const moved = await confirmPayouts(app, tx, matched.payouts)
    const refunded = await confirmRefunds(app, tx, matched.refunds)
    const opened = await openLinesOfFailed(tx, matched)
    // Last, because the actions of all operators wait for each other.
    if (before.length === 0) await recordImports(app, tx, { statements, contentHash: hashOf(content), actor })
    return {
      moved,
      refunded,
      statements,
      newLineCount,
      knownLineCount: sum(statements.map(({ line_count }) => line_count)) - newLineCount,
      matchedLineCount: matched.count - opened.length,
      returnedRefundCount: countReturned(matched.refunds) - countReturned(opened),
    }
  })
  for (const payout of moved) announcePayout(app, payout)
  for (const refund of refunded) announceRefund(app, refund)
  const byReferenceCount = await matchByReferences(app.pool)
  return {
    ...outcome,
    matchedLineCount: outcome.matchedLineCount + byReferenceCount,
    unmatchedLineCount: await countUnmatchedLines(app.pool),
  }
}

function readFile(content: string, csv: CsvForm | undefined): BankFile {
  const isXml = /^[\uFEFF\s]*</.test(content)
  if (!isXml && csv === undefined)
    throw invalidField('csv', 'REQUIRED', 'is required: the file is not XML, and a CSV file does not name its account')
  if (isXml && csv !== undefined) throw invalidField('csv', 'NOT_ALLOWED', 'must be left out: the file is XML')
  try {
    return csv === undefined ? readCamt(content.replace(/^[\uFEFF\s]+/, '')) : readCsv(content, csv)
  } catch (error) {
    if (error instanceof UnreadableFile) throw invalidField('content', 'INVALID', error.message)
    throw error
  }
}

/** What a CSV file does not say of itself: the same text of another account, or read otherwise, has other lines. */
function formText({ columns, date_format, currency }: CsvForm, { statements }: BankFile): string {
  const named = Object.entries(columns).filter(([, name]) => name !== undefined)
  const accounts = statements.map(({ account }) => account)
  return JSON.stringify([accounts, date_format, currency, named.toSorted(([one], [other]) => (one < other ? -1 : 1))])
}

function hashOf(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}

async function insertFile(
  app: Pick<App, 'ids'>,
  tx: DatabaseTransactionConnection,
  { file, fileHash, actor }: { file: BankFile; fileHash: string; actor: Actor },
): Promise<StatementRecord[]> {
  const made: StatementRecord[] = []
  const hashed = withHashes(file.statements)
  for (const [filePosition, statement] of file.statements.entries()) {
    const { account, lines } = statement
    const named = hashed[filePosition] ?? []
    const known = await listKnownHashes(tx, { account, hashes: named.map(({ hash }) => hash) })
    const fresh = named.filter(({ hash }) => !known.has(hash)).map((line) => ({ ...line, id: app.ids.uuid() }))
    const counts = { lineCount: lines.length, newLineCount: fresh.length }
    const more = { id: app.ids.uuid(), format: file.format, fileHash, filePosition, importedBy: actor.name, ...counts }
    const record = await insertStatement(tx, { ...statement, ...more })
    await insertLines(tx, { statementId: record.id, account, lines: fresh })
    made.push(record)
  }
  return made
}

async function recordImports(
  app: Pick<App, 'ids'>,
  tx: DatabaseTransactionConnection,
  { statements, contentHash, actor }: { statements: readonly StatementRecord[]; contentHash: string; actor: Actor },
): Promise<void> {
  for (const { id, account, reference, new_line_count } of statements) {
    const after = { account, reference, new_line_count, file_sha256: contentHash }
    await recordAction(app, tx, { actor, action: 'statement.import', merchantId: null, subjectId: id, after })
  }
}

/**
 * The lines of each statement with what identifies them. Where the bank names its entries, its name does, with day and
 * amount; otherwise all that the line says. Lines that are alike differ by their number: in their statement, and those that
 * the bank does not name in their account, whose pages are several statements of the file.
 */
function withHashes(statements: readonly BankStatement[]): (BankLine & { hash: string })[][] {
  const counts = new Map<string, number>()
  return statements.map(({ account, lines }, position) =>
    lines.map((line) => {
      const { bookedOn, direction, amount, currency, bankReference, endToEndId, remittance } = line
      const names = bankReference === null ? [null, endToEndId, remittance] : [bankReference]
      const name = JSON.stringify([bookedOn, direction, amount, currency, ...names])
      const key = `${bankReference === null ? account : position} ${name}`
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      return { ...line, hash: hashOf(`${name}${count}`) }
    }),
  )
}

function countReturned(lines: readonly { direction: string; refund_id: string | null }[]): number {
  return lines.filter(({ direction, refund_id }) => direction === 'CREDIT' && refund_id !== null).length
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, each) => total + each, 0)
}
