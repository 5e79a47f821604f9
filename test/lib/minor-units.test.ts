import fc from 'fast-check'
import t from 'tap'
import { IBAN, SORT_CODE_ACCOUNT_NUMBER, normalIdentification, schemeOf } from '../../src/lib/account-identification.ts'
import { amountToMinorUnits, fromMinorUnits, isCurrencyAmountText, toMinorUnits } from '../../src/lib/minor-units.ts'

const CURRENCIES = ['GBP', 'EUR']
/** 13 digits and the currency's two. */
const MOST = 10n ** 15n - 1n

t.test('writing an amount and reading it gives it back, whatever zeros follow it', async (t) => {
  const amounts = fc.bigInt({ min: 0n, max: MOST })
  const zeros = fc.integer({ min: 0, max: 3 })
  fc.assert(
    fc.property(amounts, zeros, fc.constantFrom(...CURRENCIES), (minor, more, currency) => {
      const text = fromMinorUnits(minor, currency)
      if (!/^(0|[1-9]\d*)\.\d{2}$/.test(text) || !isCurrencyAmountText(text)) throw new Error(text)
      if (toMinorUnits(text + '0'.repeat(more), currency) !== minor) throw new Error(text)
      if (minor > 0n && fromMinorUnits(-minor, currency) !== `-${text}`) throw new Error(text)
    }),
    { numRuns: 2_000 },
  )
  t.pass()
})

t.test('digits below the minor unit are rejected unless they are zero, never rounded', async (t) => {
  const digit = fc.integer({ min: 1, max: 9 })
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: MOST }), fc.integer({ min: 0, max: 2 }), digit, (minor, at, last) => {
      const text = `${fromMinorUnits(minor, 'GBP')}${'0'.repeat(at)}${last}`
      if (toMinorUnits(text, 'GBP') !== undefined) throw new Error(text)
    }),
  )
  for (const text of ['0.005', '0.00999', '0.00001', '1.99999', '9999999999999.99001', '0.01500']) {
    t.equal(toMinorUnits(text, 'GBP'), undefined, text)
  }
})

t.test('an amount is read at its edges', async (t) => {
  const cases = {
    '0.0': 0n,
    '0.00000': 0n,
    '0.1': 10n,
    '0.01': 1n,
    '0.01000': 1n,
    '10.00': 1_000n,
    '0000000000010.50': 1_050n,
    '9999999999999.99': MOST,
    '9999999999999.99000': MOST,
    '9007199254740.93': 900_719_925_474_093n,
  }
  for (const [text, minor] of Object.entries(cases)) {
    for (const currency of CURRENCIES) t.equal(toMinorUnits(text, currency), minor, text)
  }
  t.equal(fromMinorUnits(0n, 'GBP'), '0.00')
  t.equal(fromMinorUnits(-5n, 'GBP'), '-0.05')
  t.equal(fromMinorUnits(MOST, 'EUR'), '9999999999999.99')
})

t.test('texts that are not amounts of this surface are rejected, never guessed', async (t) => {
  const wrong = [
    '',
    '.',
    '10',
    '10.',
    '.50',
    '-1.00',
    '+1.00',
    '1e3',
    '1,000.00',
    '1 000.00',
    ' 1.00',
    '1.00 ',
    '1.00\n',
  ]
  const long = ['1.000000', '12345678901234.00', '1.0.0', '0x1.00', 'NaN', 'Infinity', '１.００', '٣.00', '1_0.00']
  for (const text of [...wrong, ...long]) {
    t.notOk(isCurrencyAmountText(text), JSON.stringify(text))
    t.throws(() => toMinorUnits(text, 'GBP'), RangeError, JSON.stringify(text))
  }
})

t.test('an amount of Surface B may omit decimals, and has no minor units where it is a fraction of one', async (t) => {
  for (const text of ['50', '50.0', '50.00', '50.0000', '0050.00'])
    t.equal(amountToMinorUnits(text, 'GBP'), 5_000n, text)
  for (const text of ['0.001', '50.0001']) t.equal(amountToMinorUnits(text, 'GBP'), undefined, text)
  for (const text of ['', '-1.00', '1.00000', '1e3']) t.throws(() => amountToMinorUnits(text, 'GBP'), RangeError, text)
})

t.test('a scheme is known by its name with and without the prefix, and by no other', async (t) => {
  t.equal(schemeOf('UK.OBIE.SortCodeAccountNumber'), SORT_CODE_ACCOUNT_NUMBER)
  t.equal(schemeOf('SortCodeAccountNumber'), SORT_CODE_ACCOUNT_NUMBER)
  t.equal(schemeOf('UK.OBIE.IBAN'), IBAN)
  t.equal(schemeOf('IBAN'), IBAN)
  const wrong = ['', 'iban', 'uk.obie.iban', 'UK.OBIE.', 'UK.OBIE.BBAN', 'UK.OBIE.UK.OBIE.IBAN', ' IBAN', 'toString']
  for (const name of wrong) t.equal(schemeOf(name), undefined, name)
})

t.test('a sort code and account number is 14 digits, however they are set', async (t) => {
  const normal = (text: string): string | undefined => normalIdentification(SORT_CODE_ACCOUNT_NUMBER, text)
  for (const text of ['20000055779911', '20-00-00 55779911', '200000 5577 9911'])
    t.equal(normal(text), '20000055779911')
  t.equal(normal('00000000000000'), '00000000000000', 'leading zeros are kept')
  const wrong = [
    '',
    '2000005577991',
    '200000557799110',
    '2000005577991x',
    '20/00/00 55779911',
    '２０００００55779911',
    '20000055779911\n',
  ]
  for (const text of wrong) t.equal(normal(text), undefined, JSON.stringify(text))
})

t.test('an IBAN is in capitals without blanks, and a slip in it is noticed', async (t) => {
  const right = [
    'GB33BUKB20201555555555',
    'DE89370400440532013000',
    'NO9386011117947',
    'MT84MALT011000012345MTLCAST001S',
  ]
  for (const iban of right) {
    const set = iban.toLowerCase().replaceAll(/(.{4})/g, '$1 ')
    t.equal(normalIdentification(IBAN, iban), iban)
    t.equal(normalIdentification(IBAN, set), iban, set)
  }
  fc.assert(
    fc.property(fc.constantFrom(...right), fc.nat(), fc.integer({ min: 1, max: 9 }), (iban, at, by) => {
      const digits = [...iban.matchAll(/\d/g)].map(({ index }) => index)
      const index = digits[at % digits.length] ?? 0
      const wrong =
        iban.slice(0, index) + String((BigInt(iban[index] ?? '0') + BigInt(by)) % 10n) + iban.slice(index + 1)
      if (normalIdentification(IBAN, wrong) !== undefined) throw new Error(wrong)
    }),
  )
  for (const text of [
    '',
    'GB33',
    'XX33BUKB20201555555555',
    'GB33BUKB2020155555555',
    'GB33-BUKB-20201555555555',
    '20000055779911',
  ]) {
    t.equal(normalIdentification(IBAN, text), undefined, text)
  }
})
