export type CsvOptions = {
  /** Whether the first line names the columns. */
  header: boolean
  /** CRLF by RFC 4180; shell programs read lines that end in LF. */
  lineEnd: '\n' | '\r\n'
}

/**
 * Rows as CSV (RFC 4180), each line with its end. A cell that is not a scalar is written as JSON, a missing one as
 * empty. Text that a spreadsheet would run as a formula gets an apostrophe in front, which spreadsheets read as "this
 * is text"; a plain number is unchanged, whatever its sign.
 */
export function csvOf(rows: readonly unknown[], columns: readonly string[], { header, lineEnd }: CsvOptions): string {
  const lines = rows.map((row) => {
    const members = new Map(Object.entries(Object(row)))
    return columns.map((column) => cellOf(members.get(column))).join(',')
  })
  return [...(header ? [columns.map(cellOf).join(',')] : []), ...lines].map((line) => line + lineEnd).join('')
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  // Some spreadsheets split at other separators too: there a formula would begin in the middle of a cell.
  const harmless = (isFormula(text) ? `'${text}` : text).replaceAll(FORMULA_INSIDE, "$&'")
  return /[",;|\t\n\r]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

// The characters that start a formula in spreadsheets, or that they skip before one; some read the full-width forms as
// well.
const FORMULA_START = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/
const FORMULA_INSIDE = /[;|\t](?=[ \t]*[=+\-@\uff1d\uff0b\uff0d\uff20])/g
const NEGATIVE_NUMBER = /^-\d+(\.\d+)?$/

function isFormula(text: string): boolean {
  return FORMULA_START.test(text) && !NEGATIVE_NUMBER.test(text)
}
