import { IBAN, SORT_CODE_ACCOUNT_NUMBER } from '../lib/account-identification.ts'
import { fromMinorUnits } from '../lib/minor-units.ts'
import type { SandboxAccount } from '../wire/sandbox-bank.ts'
import type { SandboxAccountRecord } from './record.ts'

/** Converts an account to the sandbox API's form. */
export function accountView(account: SandboxAccountRecord): SandboxAccount {
  const { name, currency } = account
  return {
    account_id: account.id,
    customer_id: account.external_customer_id,
    name,
    nickname: account.nickname,
    currency,
    balance: fromMinorUnits(account.balance_minor, currency),
    overdraft_limit: fromMinorUnits(account.overdraft_limit_minor, currency),
    status: account.status,
    identifications: identificationsOf(account),
    transaction_count: account.transaction_count,
  }
}

function identificationsOf({ sort_code_account_number: number, iban, name }: SandboxAccountRecord) {
  const identifications: SandboxAccount['identifications'] = []
  if (number !== null)
    identifications.push({ SchemeName: SORT_CODE_ACCOUNT_NUMBER, Identification: number, Name: name })
  if (iban !== null) identifications.push({ SchemeName: IBAN, Identification: iban, Name: name })
  return identifications
}
