import fc from 'fast-check'
import t from 'tap'
import { makePgConnection } from '../../src/db/connection.ts'
import { fromMinorUnits } from '../../src/lib/minor-units.ts'
import { CURRENCY_DIGITS, decimalText, formatNumeric, parseAmount, toNumeric } from '../../src/lib/money.ts'
import { testDatabase } from '../support/database.ts'

const { url: databaseUrl } = await testDatabase(t)
const owner = await makePgConnection({ databaseUrl, onError: () => undefined })
t.teardown(() => owner.end())

/** The exponents of ISO 4217: none (JPY), two (GBP), three (KWD) and four (CLF). */
const EXPONENTS = [0, 2, 3, 4]

/** Ten-thousandths over the whole range of numeric(19,4) amounts, with as many trailing zeros as digits. */
const amounts = fc.array(
  fc
    .tuple(fc.bigInt({ min: 0n, max: 10n ** 17n - 1n }), fc.constantFrom(1n, 10n, 100n, 1_000n, 10_000n))
    .map(([value, unit]) => value - (value % unit)),
  { minLength: 300, maxLength: 300 },
)

/** The texts of `values` (column `a`, a numeric(19,4)) by an SQL expression, in one query. */
async function textsOf(expression: string, values: readonly bigint[]): Promise<(string | undefined)[]> {
  const { rows } = await owner.query<{ text: string }>(
    `select ${expression} as text from unnest($1::numeric(19,4)[]) with ordinality as u (a, n) order by n`,
    [values.map((value) => toNumeric(value))],
  )
  return values.map((_, index) => rows[index]?.text)
}

t.test('money_text and formatNumeric write the same text for every amount of every known currency', async (t) => {
  await fc.assert(
    fc.asyncProperty(amounts, fc.constantFrom(...Object.keys(CURRENCY_DIGITS)), async (values, currency) => {
      const texts = await textsOf('money_text(a)', values)
      for (const [index, value] of values.entries()) {
        const expected = formatNumeric(toNumeric(value), currency)
        if (texts[index] !== expected) throw new Error(`${texts[index]} instead of ${expected}`)
        if (parseAmount(expected) !== value) throw new Error(`${expected} is not ${value} ten-thousandths`)
      }
    }),
    { numRuns: 20 },
  )
  t.pass()
})

t.test('money_text has no currency, so every known one must have two digits', async (t) => {
  for (const [currency, digits] of Object.entries(CURRENCY_DIGITS)) t.equal(digits, 2, currency)
})

for (const digits of EXPONENTS) {
  t.test(`decimalText agrees with PostgreSQL for ${digits} digits, and for more that are not zero`, async (t) => {
    await fc.assert(
      fc.asyncProperty(amounts, async (values) => {
        const texts = await textsOf(`round(a, greatest(${digits}, least(4, min_scale(a))))::text`, values)
        for (const [index, value] of values.entries()) {
          const text = decimalText(value, { scale: 4, minDecimals: digits })
          if (texts[index] !== text) throw new Error(`${text} instead of ${texts[index]}`)
        }
      }),
      { numRuns: 20 },
    )
    t.pass()
  })
}

t.test('minor units of two digits are written as their numeric is', async (t) => {
  await fc.assert(
    fc.asyncProperty(amounts, async (values) => {
      const texts = await textsOf('trunc(a * 10000)::numeric / 100', values)
      for (const [index, value] of values.entries()) {
        const [whole = '', decimals = ''] = (texts[index] ?? '').split('.')
        const expected = `${whole}.${decimals.slice(0, 2).padEnd(2, '0')}`
        if (fromMinorUnits(value, 'GBP') !== expected)
          throw new Error(`${fromMinorUnits(value, 'GBP')}, not ${expected}`)
      }
    }),
    { numRuns: 10 },
  )
  t.pass()
})
