import fc from 'fast-check'
import t from 'tap'
import { checkAccount } from '../../src/bank-accounts/check-account.ts'
import type { AccountNumbersInput } from '../../src/bank-accounts/check-account.ts'
import { DomainError } from '../../src/lib/errors.ts'

const GOOD = { sort_code: '12-34-56', account_number: '12345678' }

/** The check digits by their own rule (ISO 13616), beside the library's. */
function ibanOf(country: string, bban: string): string {
  const digits = `${bban}${country}00`.replaceAll(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55))
  return `${country}${String(98n - (BigInt(digits) % 97n)).padStart(2, '0')}${bban}`
}

function refusal(numbers: AccountNumbersInput): { path: string; code: string }[] {
  try {
    checkAccount(numbers)
    return []
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    for (const value of Object.values(numbers))
      if (value !== undefined && value.length > 3) t.notOk(error.message.includes(value))
    return (error.errors ?? []).map(({ path, code }) => ({ path, code }))
  }
}

t.test('numbers are accepted in usual notations, and stored without separators', async (t) => {
  const stored = { sortCode: '123456', accountNumber: '12345678', iban: null }
  for (const sort_code of ['123456', '12-34-56', '12 34 56', ' 123456 '])
    t.same(checkAccount({ sort_code, account_number: '1234 5678' }), stored, sort_code)
  const iban = ibanOf('GB', 'ACME12345612345678')
  t.same(checkAccount({ ...GOOD, iban }), { ...stored, iban })
  const grouped = iban.replaceAll(/(.{4})/g, '$1 ')
  t.same(checkAccount({ ...GOOD, iban: grouped.toLowerCase() }), { ...stored, iban })
})

t.test('well-known IBANs of other countries are taken: the account is then not compared', async (t) => {
  for (const iban of [
    'DE89370400440532013000',
    'FR1420041010050500013M02606',
    'NL91ABNA0417164300',
    'MT84MALT011000012345MTLCAST001S',
  ])
    t.equal(checkAccount({ ...GOOD, iban }).iban, iban)
})

const REFUSED: [what: string, numbers: AccountNumbersInput, errors: { path: string; code: string }[]][] = [
  ['a sort code of 5 digits', { ...GOOD, sort_code: '12345' }, [{ path: 'sort_code', code: 'INVALID' }]],
  ['a sort code of 7', { ...GOOD, sort_code: '1234567' }, [{ path: 'sort_code', code: 'INVALID' }]],
  ['a sort code with a letter', { ...GOOD, sort_code: '12345a' }, [{ path: 'sort_code', code: 'INVALID' }]],
  ['a sort code in other digits', { ...GOOD, sort_code: '١٢٣٤٥٦' }, [{ path: 'sort_code', code: 'INVALID' }]],
  ['a sort code of zeros', { ...GOOD, sort_code: '00-00-00' }, [{ path: 'sort_code', code: 'INVALID' }]],
  [
    'an account number of 6 digits',
    { ...GOOD, account_number: '123456' },
    [{ path: 'account_number', code: 'TOO_SHORT' }],
  ],
  ['one of 7', { ...GOOD, account_number: '1234567' }, [{ path: 'account_number', code: 'TOO_SHORT' }]],
  ['one of 9', { ...GOOD, account_number: '123456789' }, [{ path: 'account_number', code: 'INVALID' }]],
  ['one with a hyphen', { ...GOOD, account_number: '1234-5678' }, [{ path: 'account_number', code: 'INVALID' }]],
  ['one of zeros', { ...GOOD, account_number: '00000000' }, [{ path: 'account_number', code: 'INVALID' }]],
  ['an IBAN of no country', { ...GOOD, iban: 'ZZ89370400440532013000' }, [{ path: 'iban', code: 'INVALID' }]],
  ['an IBAN one digit short', { ...GOOD, iban: 'DE8937040044053201300' }, [{ path: 'iban', code: 'INVALID' }]],
  ['an IBAN with hyphens', { ...GOOD, iban: 'DE89-3704-0044-0532-0130-00' }, [{ path: 'iban', code: 'INVALID' }]],
  ['a blank IBAN', { ...GOOD, iban: ' ' }, [{ path: 'iban', code: 'INVALID' }]],
  [
    "another account's IBAN",
    { ...GOOD, iban: ibanOf('GB', 'ACME12345612345679') },
    [{ path: 'iban', code: 'MISMATCH' }],
  ],
  [
    "another branch's IBAN",
    { ...GOOD, iban: ibanOf('GB', 'ACME65432112345678') },
    [{ path: 'iban', code: 'MISMATCH' }],
  ],
  [
    'all three at once',
    { sort_code: '1', account_number: 'x', iban: 'GB00' },
    [
      { path: 'sort_code', code: 'INVALID' },
      { path: 'account_number', code: 'INVALID' },
      { path: 'iban', code: 'INVALID' },
    ],
  ],
]

t.test('invalid accounts are rejected with every field, without repeating a number', async (t) => {
  for (const [what, numbers, errors] of REFUSED) t.same(refusal(numbers), errors, what)
})

t.test('a short account number gets advice', async (t) => {
  t.throws(() => checkAccount({ ...GOOD, account_number: '1234567' }), { message: /add leading zeros/ })
})

const digits = (length: number): fc.Arbitrary<string> =>
  fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length })
    .map((all) => all.join(''))
    .filter((text) => /[1-9]/.test(text))

t.test('a British IBAN of any account is taken beside it, and with any digit changed it is not', async (t) => {
  fc.assert(
    fc.property(digits(6), digits(8), fc.nat(17), fc.integer({ min: 1, max: 9 }), (sort, account, at, change) => {
      const iban = ibanOf('GB', `ACME${sort}${account}`)
      t.equal(checkAccount({ sort_code: sort, account_number: account, iban }).iban, iban)
      const index = at < 2 ? 2 + at : 6 + at - 2 + 2
      const digit = (Number(iban[index]) + change) % 10
      const other = iban.slice(0, index) + digit + iban.slice(index + 1)
      t.equal(refusal({ sort_code: sort, account_number: account, iban: other }).length, 1)
    }),
    { numRuns: 300 },
  )
})
