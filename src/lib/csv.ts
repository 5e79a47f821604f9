export type CsvOptions = {
  /** Whether the first line names the columns. */
  header: boolean
  /** RFC 4180 says CRLF; programs of a shell read lines that end in LF. */
  lineEnd: '\n' | '\r\n'
}

/**
 * Rows as CSV (RFC 4180), each line with its end. A cell that is no scalar is written as JSON, and what is absent as
 * nothing. Text that a spreadsheet would run as a formula has an apostrophe put in front, which spreadsheets take for
 * "this is text"; a plain number stays as it is, whatever its sign.
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
  const harmless = isFormula(text) ? `'${text}` : text
  return /[",\n\r]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

// What spreadsheets begin a formula with, or skip before one; the wide forms are read as the narrow ones in some places.
const FORMULA_START = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/
const NEGATIVE_NUMBER = /^-\d+(\.\d+)?$/

function isFormula(text: string): boolean {
  return FORMULA_START.test(text) && !NEGATIVE_NUMBER.test(text)
}
