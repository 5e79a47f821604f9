import { failures } from '../../src/lib/locales/checkout/en-failures.ts'
import { receipt } from '../../src/lib/locales/checkout/en-receipt.ts'
import { en as untilPaid } from '../../src/lib/locales/checkout/en.ts'
import { hub } from '../../src/lib/locales/hub/en.ts'
import { pages } from '../../src/lib/locales/pages/en.ts'

/** All English texts of the widget. */
export const en = { ...untilPaid, ...receipt, failures: { ...untilPaid.failures, ...failures } }

/** Every text of a table by its path; those of functions with sample values. */
export function textsOf(table: object, path = ''): [string, string][] {
  return Object.entries(table).flatMap(([key, value]: [string, unknown]): [string, string][] => {
    const at = `${path}${key}`
    if (typeof value === 'function')
      return ['1', '2', '7'].map((count) => [`${at}(${count})`, String(value(count, 'x'))])
    if (typeof value === 'string') return [[at, value]]
    // Languages differ in their plural forms.
    return textsOf(key === 'found' ? { other: (value as { other: string }).other } : (value as object), `${at}.`)
  })
}

/** The phrases of English that are long enough to be told from a name. */
const PHRASES = textsOf({ en, hub, pages })
  .flatMap(([, text]) => text.split(/\{\w+\}/))
  .map((part) => part.trim())
  .filter((part) => part.length > 10 && part.includes(' '))

/** The English that a payer's page shows outside of what it marks as English. */
export function englishIn(html: string): string[] {
  const body = html
    .replace(/^[^]*<body>/, '')
    .replaceAll(/<(\w+)[^>]* lang="en"[^>]*>[^]*?<\/\1>|<script>[^]*<\/script>/g, '')
    .replaceAll('&#39;', "'")
  return PHRASES.filter((phrase) => body.includes(phrase))
}
