import { CsvError, parse } from 'csv-parse/sync'
import { accountKey } from '../lib/account-identification.ts'
import { UnreadableFile, plainText, shown } from '../lib/file-text.ts'
import type { DATE_FORMATS } from '../wire/statements.ts'
import { LINES_MAX, dayOf, isZero, moneyOf, nameOf, tooManyLines } from './bank-file.ts'
import type { BankFile, BankLine } from './bank-file.ts'

/** Which column of a CSV file has what, by the names in its first line. Columns that are not named are not read. */
export type CsvColumns = {
  date: string
  /** One column with a sign: money that arrives has none. */
  amount?: string | undefined
  /** Or one column for each direction, each without a sign. */
  credit?: string | undefined
  debit?: string | undefined
  currency?: string | undefined
  reference?: string | undefined
  end_to_end_id?: string | undefined
  bank_reference?: string | undefined
}

export type CsvForm = {
  columns: CsvColumns
  /** How the dates are written. */
  date_format: (typeof DATE_FORMATS)[number]
  /** The account and, where no column has it, the currency: a CSV file names neither. */
  account: string
  currency: string
}

/**
 * Reads a CSV file whose first line names its columns; the separator may be a comma, a semicolon or a tab.
 * @throws {UnreadableFile} naming the line
 */
export function readCsv(text: string, form: CsvForm): BankFile {
  const rows = recordsOf(text)
  const [header = [], ...records] = rows
  if (records.length > LINES_MAX) throw tooManyLines()
  const cells = cellsOf(header, form.columns)
  const lines = records
    .map((record, index) => lineOf((name) => record[cells.get(name) ?? -1] ?? '', form, `line ${index + 2}`))
    .filter((line) => line !== undefined)
  const days = lines.map(({ bookedOn }) => bookedOn).toSorted()
  const [first = 'empty'] = days
  const reference = `${first} to ${days.at(-1) ?? 'empty'}`
  const account = accountKey(form.account)
  const statement = { reference, account, opening: null, closing: null, lines, unbookedCount: 0 }
  return { format: 'csv', statements: [statement] }
}

function recordsOf(text: string): string[][] {
  try {
    return parse(text, {
      bom: true,
      delimiter: separatorOf(text),
      trim: true,
      skip_empty_lines: true,
      relax_column_count_more: true,
      max_record_size: 20_000,
      // The first line, and one more than is taken.
      to: LINES_MAX + 2,
    })
  } catch (error) {
    if (error instanceof CsvError) throw new UnreadableFile(`line ${String(error.lines)}: ${error.message}`)
    throw error
  }
}

/** The one that the first line has most of. */
function separatorOf(text: string): string {
  const [line = ''] = text.split('\n', 1)
  const count = (separator: string): number => line.split(separator).length
  return [',', ';', '\t'].toSorted((one, other) => count(other) - count(one))[0] ?? ','
}

/** Where each member's column stands. */
function cellsOf(header: readonly string[], columns: CsvColumns): Map<string, number> {
  return new Map(
    Object.entries(columns).map(([member, name = '']) => {
      const at = header.indexOf(name)
      if (at !== -1) return [member, at]
      const has = header.slice(0, 12).map(shown).join(', ')
      throw new UnreadableFile(`there is no column ${shown(name)} for ${member}; the first line has ${has}`)
    }),
  )
}

type Cell = (member: keyof CsvColumns) => string

/** A line of the file; undefined where it moves nothing, such as a balance that is carried forward. */
function lineOf(cell: Cell, form: CsvForm, where: string): BankLine | undefined {
  const currency = form.columns.currency === undefined ? form.currency : cell('currency')
  const signed = signedOf(cell, form.columns, where)
  const isDebit = signed.startsWith('-')
  const money = moneyOf(decimalOf(isDebit ? signed.slice(1) : signed, currency, where), currency, where)
  if (isZero(money.amount)) return undefined
  return {
    bookedOn: dayOf(isoDay(cell('date'), form.date_format), where),
    direction: isDebit ? 'DEBIT' : 'CREDIT',
    ...money,
    isReversal: false,
    returnReason: null,
    bankReference: nameOf(cell('bank_reference'), 140),
    endToEndId: nameOf(cell('end_to_end_id'), 35),
    remittance: plainText(cell('reference'), 500),
  }
}

/** The amount with a minus where the money has left. */
function signedOf(cell: Cell, { amount }: CsvColumns, where: string): string {
  if (amount !== undefined) return cell('amount').replace(/^\+/, '')
  const credit = cell('credit')
  const debit = cell('debit').replace(/^-/, '')
  const isFilled = (text: string): boolean => !/^[0.,]*$/.test(text)
  if (isFilled(credit) && isFilled(debit)) throw new UnreadableFile(`${where}: both a credit and a debit are given`)
  return isFilled(debit) ? `-${debit}` : credit === '' ? '0' : credit
}

const GROUPED_BY_COMMA = /^(\d{1,3}(,\d{3})+|\d+)(\.\d+)?$/
const GROUPED_BY_POINT = /^(\d{1,3}(\.\d{3})+|\d+)(,\d+)?$/
/** The currencies whose amounts have three decimals (ISO 4217). */
const THREE_DECIMALS = /^(BHD|IQD|JOD|KWD|LYD|OMR|TND)$/

/** The amount as computers write it: `1,250.00` and `1.250,00` are 1250.00. What could be either is refused. */
function decimalOf(text: string, currency: string, where: string): string {
  const plain = text.replaceAll(/[\s£€$]/g, '')
  const isEither = /^\d+,\d{3}$/.test(plain) || (/^[1-9]\d{0,2}\.\d{3}$/.test(plain) && !THREE_DECIMALS.test(currency))
  if (!isEither && GROUPED_BY_COMMA.test(plain)) return plain.replaceAll(',', '')
  if (!isEither && GROUPED_BY_POINT.test(plain)) return plain.replaceAll('.', '').replace(',', '.')
  throw new UnreadableFile(`${where}: ${shown(text)} is not a valid amount, or could be two: write 1250.00 or 1,250.00`)
}

/** The date as ISO 8601 writes it. What does not have the form comes back as it is, for the error. */
function isoDay(text: string, format: CsvForm['date_format']): string {
  const order = format.split(/[-/.]/)
  const parts = text.split(/[-/.]/)
  if (parts.length !== 3) return text
  const part = (name: string, length: number): string => (parts[order.indexOf(name)] ?? '').padStart(length, '0')
  return `${part('YYYY', 4)}-${part('MM', 2)}-${part('DD', 2)}`
}
