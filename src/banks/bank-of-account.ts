import type { CatalogueBank } from './catalogue.ts'
import type { DebtorAccount } from './connector.ts'

/** The bank that an account is with, where its sort code says so: the longest matching prefix decides. */
export function bankOfAccount(
  banks: readonly CatalogueBank[],
  { scheme, identification }: DebtorAccount,
): CatalogueBank | undefined {
  const sortCode = scheme === 'UK.OBIE.IBAN' ? sortCodeOfIban(identification) : identification.slice(0, 6)
  const matches = banks.flatMap((bank) =>
    (bank.sortCodes ?? []).filter((prefix) => sortCode.startsWith(prefix)).map((prefix) => ({ bank, prefix })),
  )
  const longest = Math.max(0, ...matches.map(({ prefix }) => prefix.length))
  const [found, ...others] = matches.filter(({ prefix }) => prefix.length === longest)
  // Brands of one bank may share a range: then the payer is asked.
  return others.length === 0 ? found?.bank : undefined
}

/** A British IBAN has the sort code after its country, check digits and four letters of the bank. */
function sortCodeOfIban(iban: string): string {
  return iban.startsWith('GB') ? iban.slice(8, 14) : ''
}
