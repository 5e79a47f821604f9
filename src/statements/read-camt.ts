import { accountKey } from '../lib/account-identification.ts'
import { UnreadableFile, plainText, shown } from '../lib/file-text.ts'
import { parseAmount } from '../lib/money.ts'
import { allAt, child, readXml, textAt } from '../lib/read-xml.ts'
import type { Element } from '../lib/read-xml.ts'
import { LINES_MAX, STATEMENTS_MAX, dayOf, isZero, moneyOf, nameOf, tooManyLines } from './bank-file.ts'
import type { Balance, BankFile, BankLine, BankStatement } from './bank-file.ts'

/** The message of each kind of file, the element that it repeats, and the depth of what stands in that (the root is 1). */
const STATEMENT_OF: Readonly<Record<string, { format: 'camt.053' | 'camt.054'; repeats: string }>> = {
  BkToCstmrStmt: { format: 'camt.053', repeats: 'Stmt' },
  BkToCstmrDbtCdtNtfctn: { format: 'camt.054', repeats: 'Ntfctn' },
}
const PART_DEPTH = 4

type Draft = { -readonly [Member in keyof BankStatement]: BankStatement[Member] } & { lines: BankLine[] }

/**
 * Reads camt.053 (statement) and camt.054 (notification) of ISO 20022, versions 02 to 08 and what lies between: elements
 * are found by name, and where a version has moved one, both places are looked at.
 * @throws {UnreadableFile}
 */
export function readCamt(text: string): BankFile {
  const statements: Draft[] = []
  let format: BankFile['format'] | undefined
  let current: Draft | undefined
  let lineCount = 0
  readXml(text, PART_DEPTH, (part, path) => {
    const kind = STATEMENT_OF[path[1] ?? '']
    if (path[0] !== 'Document' || kind === undefined) throw notCamt(path[1])
    format = kind.format
    if (path[2] !== kind.repeats) return
    // The identification is the first element of a statement, and none is without it.
    if (part.name === 'Id') {
      current = { reference: part.text, account: '', opening: null, closing: null, lines: [], unbookedCount: 0 }
      statements.push(current)
      if (statements.length > STATEMENTS_MAX)
        throw new UnreadableFile(`the file has more than ${STATEMENTS_MAX} statements: import it in parts`)
    }
    if (current === undefined) throw new UnreadableFile(`<${kind.repeats}> does not begin with its <Id>`)
    takePart(current, part)
    lineCount += part.name === 'Ntry' ? Math.max(1, allAt(part, 'NtryDtls/TxDtls').length) : 0
    if (lineCount > LINES_MAX) throw tooManyLines()
  })
  if (format === undefined) throw notCamt(undefined)
  for (const { reference, account } of statements)
    if (account === '') throw new UnreadableFile(`statement ${shown(reference)}: <Acct> names no account`)
  return { format, statements }
}

function notCamt(found: string | undefined): UnreadableFile {
  const has = found === undefined ? 'no message' : `<${found}>`
  return new UnreadableFile(`not a camt.053 or camt.054 file: the document has ${has}`)
}

function takePart(statement: Draft, part: Element): void {
  const where = `statement ${shown(statement.reference)}`
  if (part.name === 'Acct') {
    statement.account = accountKey(accountText(part))
  } else if (part.name === 'Bal') {
    const kind = textAt(part, 'Tp/CdOrPrtry/Cd')
    // Of a statement in several pages the interim balances (ITBD) are its ends.
    if (kind === 'OPBD' || kind === 'PRCD') statement.opening = balanceOf(part, where)
    if (kind === 'CLBD') statement.closing = balanceOf(part, where)
  } else if (part.name === 'Ntry') {
    const status = textAt(part, 'Sts/Cd', 'Sts/Prtry', 'Sts')
    if (status === 'BOOK') statement.lines.push(...linesOf(part, `${where}, entry ${statement.lines.length + 1}`))
    else statement.unbookedCount += 1
  }
}

/** The account as the bank writes it: an account number of eight digits has its sort code at the bank that keeps it. */
function accountText(element: Element): string {
  const number = textAt(element, 'Id/IBAN', 'Id/Othr/Id') ?? ''
  const sortCode = textAt(element, 'Svcr/FinInstnId/ClrSysMmbId/MmbId') ?? ''
  return /^\d{8}$/.test(number) && /^\d{2}(-?\d{2}){2}$/.test(sortCode) ? `${sortCode}${number}` : number
}

function balanceOf(element: Element, where: string): Balance {
  const { amount, currency } = readMoney(child(element, 'Amt'), `${where}, balance`)
  const isOverdrawn = directionOf(element, where) === 'DEBIT' && !isZero(amount)
  return { amount: isOverdrawn ? `-${amount}` : amount, currency }
}

function readMoney(element: Element | undefined, where: string): { amount: string; currency: string } {
  if (element === undefined) throw new UnreadableFile(`${where}: <Amt> is missing`)
  return moneyOf(element.text, element.attributes.Ccy ?? '', where)
}

/** @param whole the entry of a transaction, which may leave its own direction out */
function directionOf(element: Element, where: string, whole?: Moved): BankLine['direction'] {
  const text = textAt(element, 'CdtDbtInd')
  if (text === 'CRDT') return 'CREDIT'
  if (text === 'DBIT') return 'DEBIT'
  if (text === undefined && whole !== undefined) return whole.direction
  throw new UnreadableFile(`${where}: <CdtDbtInd> must be CRDT or DBIT`)
}

type Moved = Pick<BankLine, 'direction' | 'amount' | 'currency'>

/** The lines of a booked entry: one for each of its transactions where these add up to it, else one (decision 442). */
function linesOf(entry: Element, where: string): BankLine[] {
  const whole = { direction: directionOf(entry, where), ...readMoney(child(entry, 'Amt'), where) }
  const details = allAt(entry, 'NtryDtls/TxDtls')
  const transactions = details.length < 2 ? undefined : transactionsOf(details, whole, where)
  if (transactions === undefined && isZero(whole.amount)) return []
  const base = {
    bookedOn: dayOf(textAt(entry, 'BookgDt/Dt', 'BookgDt/DtTm', 'ValDt/Dt', 'ValDt/DtTm') ?? '', where),
    isReversal: /^(true|1)$/.test(textAt(entry, 'RvslInd') ?? ''),
  }
  if (transactions !== undefined) return transactions.map((each) => ({ ...base, ...each }))
  const bankReference = nameOf(textAt(entry, 'AcctSvcrRef') ?? '', 140)
  const [only, ...others] = details
  const isOfOnly = only !== undefined && others.length === 0 && directionOf(only, where, whole) === whole.direction
  const own = isOfOnly ? namesOf(only) : NO_NAMES
  const remittance = own.remittance ?? (others.length > 0 ? null : plainText(textAt(entry, 'AddtlNtryInf') ?? '', 500))
  return [{ ...base, ...whole, ...own, remittance, bankReference: bankReference ?? own.bankReference }]
}

type Transaction = Moved & ReturnType<typeof namesOf>

/**
 * The transactions of an entry, in which money may have gone both ways; undefined where the bank does not give their
 * amounts, or these are not the entry's together.
 */
function transactionsOf(details: readonly Element[], whole: Moved, where: string): Transaction[] | undefined {
  const found: Transaction[] = []
  let left = signedOf(whole)
  for (const [index, each] of details.entries()) {
    const amount = child(each, 'Amt') ?? child(each, 'AmtDtls/TxAmt/Amt')
    if (amount === undefined) return undefined
    const at = `${where}, transaction ${index + 1}`
    const moved = { direction: directionOf(each, at, whole), ...readMoney(amount, at) }
    if (moved.currency !== whole.currency) return undefined
    left -= signedOf(moved)
    if (!isZero(moved.amount)) found.push({ ...moved, ...namesOf(each) })
  }
  return left === 0n ? found : undefined
}

function signedOf({ direction, amount }: Moved): bigint {
  return direction === 'CREDIT' ? parseAmount(amount) : -parseAmount(amount)
}

type Names = Pick<BankLine, 'endToEndId' | 'remittance' | 'bankReference' | 'returnReason'>
const NO_NAMES: Names = { endToEndId: null, remittance: null, bankReference: null, returnReason: null }

function namesOf(details: Element): Names {
  const unstructured = allAt(details, 'RmtInf/Ustrd').map(({ text }) => text)
  const structured = allAt(details, 'RmtInf/Strd/CdtrRefInf/Ref').map(({ text }) => text)
  return {
    endToEndId: nameOf(textAt(details, 'Refs/EndToEndId') ?? '', 35),
    remittance: plainText([...structured, ...unstructured].join(' '), 500),
    bankReference: nameOf(textAt(details, 'Refs/AcctSvcrRef', 'Refs/TxId') ?? '', 140),
    returnReason: plainText(textAt(details, 'RtrInf/Rsn/Cd', 'RtrInf/Rsn/Prtry') ?? '', 35),
  }
}
