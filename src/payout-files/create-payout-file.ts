import { createHash } from 'node:crypto'
import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { openNumbers } from '../bank-accounts/numbers.ts'
import type { BankAccountRecord } from '../bank-accounts/record.ts'
import { londonDayOf } from '../lib/london-time.ts'
import type { SealContext } from '../lib/seal.ts'
import { announcePayout, movePayouts } from '../payouts/move.ts'
import type { PayoutRecord } from '../payouts/record.ts'
import { isoText } from './iso-text.ts'
import { payerAccountNumber } from '../payments/refunds/refund-route.ts'
import type { FileRefund, PayoutFileRecord } from './record.ts'
import { lockWaitingRefunds } from './refunds-sql.ts'
import { insertPayoutFile, listAccountsOf, lockFiles, lockWaitingPayouts } from './sql.ts'
import type { Page } from './sql.ts'
import { writePain001 } from './write-pain-001.ts'
import type { Instruction } from './write-pain-001.ts'

/** Payouts of one file, and as many refunds. Those that are left wait for the next. */
const PAYMENTS_MAX = 1_000
const NAME_MAX = 70
/** What ISO 20022 writes for a name that is not known. */
const NO_NAME = 'NOTPROVIDED'

/**
 * Why a payout is not in the file: no account of ours has its currency, a bank cannot read the holder's name, or the number
 * of its account can't be opened.
 */
export type LeftOutReason = 'NO_PAYING_ACCOUNT' | 'NAME_NOT_WRITABLE' | 'ACCOUNT_UNREADABLE'
export type LeftOut = { payout: PayoutRecord; reason: LeftOutReason }
export type LeftOutRefund = { refund: FileRefund; reason: Exclude<LeftOutReason, 'NAME_NOT_WRITABLE'> }

export type CreatedPayoutFile = {
  /** Null where no payout can be sent. */
  file: (PayoutFileRecord & { content: string }) | null
  leftOut: readonly LeftOut[]
  leftOutRefunds: readonly LeftOutRefund[]
  hasMore: boolean
}

type PayoutFileApp = Pick<App, 'pool' | 'ids' | 'sealer' | 'config' | 'log' | 'wake'>

export function payoutFileContext(id: string): SealContext {
  return { table: 'payout_files', column: 'content', rowId: id, merchantId: 'platform' }
}

/**
 * Writes the payouts and refunds that wait for a file into one, and marks them as sent, in one transaction: a crash leaves
 * them waiting, or the file can be read again by its id, and none is in two files.
 */
export async function createPayoutFile(
  app: PayoutFileApp,
  { actor, paymentsMax = PAYMENTS_MAX }: { actor: Actor; paymentsMax?: number },
): Promise<CreatedPayoutFile> {
  const { moved, ...outcome } = await app.pool.transaction(async (tx) => {
    await lockFiles(tx)
    const sorted: Sorted = { items: [], leftOut: [], closed: [], refunds: [], leftOutRefunds: [] }
    const hasMorePayouts = await takeWaiting<PayoutRecord>(paymentsMax, {
      read: (page) => lockWaitingPayouts(tx, page),
      take: (payouts) => sortPayouts(app, tx, { payouts, sorted }),
    })
    const hasMoreRefunds = await takeWaiting<FileRefund>(paymentsMax, {
      read: (page) => lockWaitingRefunds(tx, page),
      take: (refunds) => sortRefunds(app, { refunds, sorted }),
    })
    const hasMore = hasMorePayouts || hasMoreRefunds
    const { items, leftOut, closed, refunds, leftOutRefunds } = sorted
    const isEmpty = items.length + refunds.length === 0
    const file = isEmpty ? null : await writeFile(app, tx, { items, refunds, createdBy: actor.name })
    const sent = items.map(({ payout }) => ({ ...keyOf(payout), on: 'sending' }) as const)
    const failed = closed.map(
      (payout) => ({ ...keyOf(payout), on: 'rejection', failureCode: 'CANCELLED_BY_MERCHANT' }) as const,
    )
    const moved = await movePayouts(tx, app, [...sent, ...failed])
    if (moved.length !== sent.length + failed.length) throw new Error('a payout has moved although its row is locked')
    if (file !== null) await recordFile(app, tx, file, actor)
    return { file, leftOut, leftOutRefunds, hasMore, moved }
  })
  for (const payout of moved) announcePayout(app, payout)
  return outcome
}

type Item = { payout: PayoutRecord; instruction: Instruction }
type RefundItem = { refund: FileRefund; instruction: Instruction }
type Sorted = {
  items: Item[]
  leftOut: LeftOut[]
  closed: PayoutRecord[]
  refunds: RefundItem[]
  leftOutRefunds: LeftOutRefund[]
}

/**
 * Takes up to `max` waiting payments, and reads on behind those that are left out: a thousand of them would keep all others
 * waiting. Returns whether more wait.
 * @param steps.take how many of these the file takes
 */
async function takeWaiting<Row>(
  max: number,
  {
    read,
    take,
  }: { read(page: Page<Row>): Promise<readonly Row[]>; take(rows: readonly Row[]): Promise<number> | number },
): Promise<boolean> {
  let [limit, after]: [number, Row | undefined] = [max, undefined]
  while (limit > 0) {
    const waiting = await read({ limit, after })
    const rows = waiting.slice(0, limit)
    const isLast = waiting.length <= limit
    limit -= await take(rows)
    if (isLast) return false
    after = rows.at(-1)
  }
  return true
}

/** Which refunds can be written, and which wait for an account of ours. Merchants that are held refund nevertheless. */
function sortRefunds(
  app: PayoutFileApp,
  { refunds, sorted }: { refunds: readonly FileRefund[]; sorted: Sorted },
): number {
  const before = sorted.refunds.length
  for (const refund of refunds) {
    const { end_to_end_id: endToEndId, amount, currency, payer_name: name } = refund
    const creditorAccount = opened(app, { refund_id: refund.id }, () => payerAccountNumber(app, refund, currency))
    const creditorName = isoText(name ?? '', NAME_MAX) ?? NO_NAME
    if (creditorAccount === null) sorted.leftOutRefunds.push({ refund, reason: 'ACCOUNT_UNREADABLE' })
    else if (!app.config.payoutAccounts.has(currency))
      sorted.leftOutRefunds.push({ refund, reason: 'NO_PAYING_ACCOUNT' })
    else {
      const instruction = { endToEndId, amount, creditorName, creditorAccount, remittance: endToEndId }
      sorted.refunds.push({ refund, instruction })
    }
  }
  return sorted.refunds.length - before
}

/** The opened number of an account; null, and in the log, where it can't be: one such account keeps no other payment back. */
function opened<T>({ log }: PayoutFileApp, subject: Record<string, string>, open: () => T | null): T | null {
  try {
    const number = open()
    if (number === null) throw new Error('the account is missing')
    return number
  } catch (error) {
    log.error({ err: error, ...subject }, "a payment is left out of the file: its account's number can't be opened")
    return null
  }
}

/** Which payouts can be written, which can't, and which fail because their account was disabled meanwhile. */
async function sortPayouts(
  app: PayoutFileApp,
  tx: DatabaseTransactionConnection,
  { payouts, sorted }: { payouts: readonly PayoutRecord[]; sorted: Sorted },
): Promise<number> {
  const accounts = new Map((await listAccountsOf(tx, payouts)).map((account) => [account.id, account]))
  const before = sorted.items.length
  for (const payout of payouts) {
    const account = accounts.get(payout.bank_account_id)
    if (account === undefined) throw new Error('the account of a payout is missing')
    const instruction = account.is_active ? instructionOf(app, payout, account) : 'disabled'
    if (instruction === 'disabled') sorted.closed.push(payout)
    else if (typeof instruction === 'string') sorted.leftOut.push({ payout, reason: instruction })
    else sorted.items.push({ payout, instruction })
  }
  return sorted.items.length - before
}

function keyOf({ merchant_id: merchantId, id }: PayoutRecord) {
  return { merchantId, id, from: 'CREATED', changedBy: 'OPERATOR' } as const
}

function instructionOf(
  app: PayoutFileApp,
  payout: PayoutRecord,
  account: BankAccountRecord,
): Instruction | LeftOutReason {
  const numbers = opened(app, { payout_id: payout.id }, () => openNumbers(app, account))
  if (numbers === null) return 'ACCOUNT_UNREADABLE'
  const { sortCode, accountNumber, iban } = numbers
  const creditorAccount = payout.currency === 'GBP' ? `${sortCode}${accountNumber}` : iban
  if (!app.config.payoutAccounts.has(payout.currency) || creditorAccount === null) return 'NO_PAYING_ACCOUNT'
  const creditorName = isoText(account.account_holder_name, NAME_MAX)
  if (creditorName === null) return 'NAME_NOT_WRITABLE'
  const { end_to_end_id: endToEndId, amount } = payout
  return { endToEndId, amount, creditorName, creditorAccount, remittance: endToEndId }
}

async function writeFile(
  app: PayoutFileApp,
  tx: DatabaseTransactionConnection,
  { items, refunds, createdBy }: { items: readonly Item[]; refunds: readonly RefundItem[]; createdBy: string },
): Promise<PayoutFileRecord & { content: string }> {
  const id = app.ids.uuid()
  const messageId = id.replaceAll('-', '')
  const content = writeMessage(app, messageId, [
    ...items.map(({ payout, instruction }) => ({ currency: payout.currency, instruction })),
    ...refunds.map(({ refund, instruction }) => ({ currency: refund.currency, instruction })),
  ])
  const contentHash = createHash('sha256').update(content, 'utf8').digest('hex')
  const file = await insertPayoutFile(tx, {
    id,
    messageId,
    payoutIds: items.map(({ payout }) => payout.id),
    refunds: refunds.map(({ refund }) => refund),
    content: app.sealer.seal(content, payoutFileContext(id)),
    contentHash,
    createdBy,
  })
  return { ...file, content }
}

/** At the end of its transaction, because the actions of all operators wait for each other. */
async function recordFile(
  app: PayoutFileApp,
  tx: DatabaseTransactionConnection,
  { id, message_id, payout_count, refund_count, control_sum, content_hash }: PayoutFileRecord,
  actor: Actor,
): Promise<void> {
  const after = { message_id, payout_count, refund_count, control_sum, content_sha256: content_hash }
  await recordAction(app, tx, { actor, action: 'payout_file.create', merchantId: null, subjectId: id, after })
}

type Written = { currency: string; instruction: Instruction }

function writeMessage({ config }: PayoutFileApp, messageId: string, items: readonly Written[]): string {
  const now = new Date()
  const byCurrency = Map.groupBy(items, ({ currency }) => currency)
  return writePain001({
    id: messageId,
    createdAt: now.toISOString(),
    executeOn: londonDayOf(now).toISODate(),
    debtorName: config.payoutName,
    batches: [...byCurrency].map(([currency, batch]) => ({
      id: batchId(messageId, currency),
      currency,
      debtorAccount: config.payoutAccounts.get(currency) ?? '',
      instructions: batch.map(({ instruction }) => instruction),
    })),
  })
}

/** The name of a message's batch, 35 characters as ISO 20022 allows. */
export function batchId(messageId: string, currency: string): string {
  return `${messageId}${currency}`
}
