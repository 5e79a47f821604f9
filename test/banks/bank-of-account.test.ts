import t from 'tap'
import { bankOfAccount } from '../../src/banks/bank-of-account.ts'
import type { CatalogueBank } from '../../src/banks/catalogue.ts'

const bank = (id: string, ...sortCodes: string[]): CatalogueBank => ({
  id,
  name: id,
  popular: true,
  connector: id,
  sortCodes,
})
const BANKS = [bank('large', '20', '30'), bank('small', '2088'), bank('twin', '30'), bank('unknown')]

t.test('the longest prefix of a sort code names the bank of an account', async (t) => {
  const cases = [
    ['UK.OBIE.SortCodeAccountNumber', '20000055779911', 'large'],
    ['UK.OBIE.SortCodeAccountNumber', '20880055779911', 'small'],
    ['UK.OBIE.SortCodeAccountNumber', '30000055779911', undefined, 'two banks share it'],
    ['UK.OBIE.SortCodeAccountNumber', '40000055779911', undefined, 'nobody is known for it'],
    ['UK.OBIE.IBAN', 'GB29LARG20161331926819', 'large'],
    ['UK.OBIE.IBAN', 'DE89200000000440532013', undefined, 'it has no sort code'],
  ] as const
  for (const [scheme, identification, id, why] of cases)
    t.equal(bankOfAccount(BANKS, { scheme, identification })?.id, id, why ?? identification)
})
