import type { App } from '../app.ts'
import { maskAllButLastFour } from '../lib/mask.ts'
import type { SealContext } from '../lib/seal.ts'
import type { BankAccount } from '../wire/bank-accounts.ts'
import type { AccountNumbers } from './check-account.ts'
import type { BankAccountRecord } from './record.ts'
import type { BankAccountKey } from './sql.ts'

export type SealedNumber = 'encrypted_account_number' | 'encrypted_sort_code' | 'encrypted_iban'

/** The context that an account's number is sealed to. */
export function bankAccountContext({ merchantId, id }: BankAccountKey, column: SealedNumber): SealContext {
  return { table: 'merchant_bank_accounts', column, rowId: id, merchantId }
}

/** Seals an account's numbers for storage. */
export function sealNumbers({ sealer }: Pick<App, 'sealer'>, key: BankAccountKey, numbers: AccountNumbers) {
  const seal = (plain: string, column: SealedNumber): string => sealer.seal(plain, bankAccountContext(key, column))
  return {
    accountNumber: seal(numbers.accountNumber, 'encrypted_account_number'),
    sortCode: seal(numbers.sortCode, 'encrypted_sort_code'),
    iban: numbers.iban === null ? null : seal(numbers.iban, 'encrypted_iban'),
  }
}

/**
 * Opens an account's numbers. They leave the service only masked.
 * @throws if a number was altered or copied from another row, which only happens by direct changes in the database
 */
export function openNumbers({ sealer }: Pick<App, 'sealer'>, row: BankAccountRecord): AccountNumbers {
  const open = (column: SealedNumber, sealed: string): string => {
    try {
      return sealer.open(sealed, bankAccountContext({ merchantId: row.merchant_id, id: row.id }, column))
    } catch (cause) {
      throw new Error(`${column} of bank account ${row.id} cannot be opened: its row was altered`, { cause })
    }
  }
  return {
    accountNumber: open('encrypted_account_number', row.encrypted_account_number),
    sortCode: open('encrypted_sort_code', row.encrypted_sort_code),
    iban: row.encrypted_iban === null ? null : open('encrypted_iban', row.encrypted_iban),
  }
}

/** The account as the API shows it, with masked numbers. */
export function maskedAccount(app: Pick<App, 'sealer'>, row: BankAccountRecord): BankAccount {
  const { sortCode, accountNumber, iban } = openNumbers(app, row)
  return {
    id: row.id,
    account_holder_name: row.account_holder_name,
    account_number: maskAllButLastFour(accountNumber),
    sort_code: maskAllButLastFour(sortCode),
    iban: iban === null ? null : maskAllButLastFour(iban),
    is_active: row.is_active,
    created_at: row.created_at,
    disabled_at: row.disabled_at,
  }
}

/** The members of an account that the audit trail records. */
export function auditedAccount({ account_holder_name, account_number, sort_code, iban, is_active }: BankAccount) {
  return { account_holder_name, account_number, sort_code, iban, is_active }
}
