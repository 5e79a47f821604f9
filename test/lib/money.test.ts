import fc from 'fast-check'
import t from 'tap'
import {
  amountWithCurrency,
  fitsCurrency,
  formatAmount,
  formatNumeric,
  commaProblem,
  isAmountText,
  isKnownCurrency,
  parseAmount,
  percentText,
  toNumeric,
  tooPreciseText,
} from '../../src/lib/money.ts'

const amounts = fc.bigInt({ min: 0n, max: 10n ** 17n - 1n })

t.test('texts that are not amounts are rejected, never guessed', async (t) => {
  const wrong = [
    '',
    ' ',
    '.',
    '1.',
    '.5',
    '-1',
    '+1',
    '1e3',
    '0x10',
    '1,000.00',
    '1 000',
    '1.00000',
    '12345678901234',
    'NaN',
    'Infinity',
    '1.0.0',
    '１.００',
    '1\n',
    ' 1',
    '1 ',
    '1_000',
    '٣',
    '1.2.',
    '01.',
    '--1',
  ]
  for (const text of wrong) {
    t.notOk(isAmountText(text), JSON.stringify(text))
    t.throws(() => parseAmount(text), RangeError, JSON.stringify(text))
  }
})

t.test('a decimal comma is named, and one that may divide thousands is not', async (t) => {
  t.equal(commaProblem('12,50'), 'invalid amount "12,50": use a decimal point, such as 12.50')
  t.equal(commaProblem('-0,7'), 'invalid amount "-0,7": use a decimal point, such as -0.7')
  for (const text of ['12.50', '1,000', '1,000.00', '1,2,3', ',5', '12,', '', 12.5, undefined])
    t.equal(commaProblem(text), undefined, JSON.stringify(text))
})

t.test('a fraction is formatted in percent, without trailing zeros', async (t) => {
  const cases = { '0.0125': '1.25%', '0.0100': '1%', '0.1': '10%', '0': '0%', '0.0000': '0%', '0.9999': '99.99%' }
  for (const [fraction, text] of Object.entries(cases)) t.equal(percentText(fraction), text)
})

t.test('an amount is read to the last of its four decimals', async (t) => {
  const cases = {
    '0': 0n,
    '0.01': 100n,
    '50': 500_000n,
    '50.0': 500_000n,
    '0.7125': 7_125n,
    '0050.00': 500_000n,
    '9999999999999.9999': 10n ** 17n - 1n,
  }
  for (const [text, amount] of Object.entries(cases)) t.equal(parseAmount(text), amount, text)
})

t.test("an amount is shown with the currency's digits, and more only where they are not zero", async (t) => {
  const cases = {
    '50.0000': '50.00',
    '0.7000': '0.70',
    '0.7125': '0.7125',
    '0.7120': '0.712',
    '0.0001': '0.0001',
    '0.0000': '0.00',
    '100.0000': '100.00',
    '9999999999999.9999': '9999999999999.9999',
  }
  for (const [numeric, text] of Object.entries(cases)) {
    t.equal(formatNumeric(numeric, 'GBP'), text, numeric)
    t.equal(amountWithCurrency(numeric, 'GBP'), `${text} GBP`, numeric)
  }
})

t.test('writing and reading an amount gives it back', async (t) => {
  fc.assert(
    fc.property(amounts, (amount) => {
      if (parseAmount(toNumeric(amount)) !== amount) throw new Error(toNumeric(amount))
      const text = formatAmount(amount, 'EUR')
      if (parseAmount(text) !== amount || !/^\d+\.\d{2}(\d?[1-9])?$/.test(text)) throw new Error(text)
    }),
    { numRuns: 2_000 },
  )
  t.pass()
})

t.test('the text of a numeric that is only cut is the text of its value', async (t) => {
  const units = fc.constantFrom(1n, 10n, 100n, 1_000n, 10_000n)
  fc.assert(
    fc.property(amounts, units, fc.constantFrom('GBP', 'EUR', 'XXX'), (amount, unit, currency) => {
      const value = amount - (amount % unit)
      const text = formatNumeric(toNumeric(value), currency)
      if (text !== formatAmount(value, currency)) throw new Error(`${text} for ${toNumeric(value)}`)
    }),
    { numRuns: 2_000 },
  )
  const cases = { '050.0000': '50.00', '-50.0000': '-50.00', '50.0': '50.00', '50': '50.00', '0.0000': '0.00' }
  for (const [numeric, text] of Object.entries(cases)) t.equal(formatNumeric(numeric, 'GBP'), text, numeric)
  for (const wrong of ['50.0000\n', '12345678901234.0000', '1.00000', '.0000']) {
    t.throws(() => formatNumeric(wrong, 'GBP'), RangeError, JSON.stringify(wrong))
  }
})

t.test('the canonical form has all four decimals, and a sign where there is one', async (t) => {
  t.equal(toNumeric(0n), '0.0000')
  t.equal(toNumeric(1n), '0.0001')
  t.equal(toNumeric(-12_345n), '-1.2345')
  t.equal(toNumeric(500_000n), '50.0000')
})

t.test('digits below the minor unit do not fit the currency', async (t) => {
  t.ok(fitsCurrency(parseAmount('50.0100'), 'GBP'))
  t.notOk(fitsCurrency(parseAmount('50.001'), 'GBP'))
  t.notOk(fitsCurrency(1n, 'EUR'))
  t.ok(fitsCurrency(0n, 'EUR'))
  t.equal(tooPreciseText('GBP'), 'GBP has two decimals; this amount has more')
})

t.test('only currencies with a known exponent are known', async (t) => {
  for (const code of ['GBP', 'EUR']) t.ok(isKnownCurrency(code), code)
  for (const code of ['USD', 'JPY', 'gbp', '', 'constructor', 'toString']) t.notOk(isKnownCurrency(code), code)
})
