import type { CommonQueryMethods } from 'slonik'
import { chooseAccount } from '../accounts/choose-account.ts'
import type { AccountRecord } from '../accounts/record.ts'
import { invalidField } from '../lib/errors.ts'
import type { PaymentInitiation } from '../wire/orders.ts'
import { findCreditor } from './find-creditor.ts'

type OrderedAccounts = Pick<PaymentInitiation, 'InstructedAmount' | 'CreditorAccount' | 'DebtorAccount'>

/**
 * The debtor account of an order, single or recurring: the named one, otherwise the customer's first one in the
 * currency (decision 59). It must differ from the creditor account.
 * @throws {DomainError} VALIDATION_FAILED at one of the accounts, or at the currency
 */
export async function chooseDebtor(
  db: CommonQueryMethods,
  { customerId, body }: { customerId: string; body: OrderedAccounts },
): Promise<AccountRecord> {
  const { InstructedAmount, CreditorAccount, DebtorAccount } = body
  const debtor = await chooseAccount(db, { customerId, currency: InstructedAmount.Currency, number: DebtorAccount })
  const named = { scheme: CreditorAccount.SchemeName, identification: CreditorAccount.Identification }
  const creditor = await findCreditor(db, named)
  if (creditor.at !== 'us' || creditor.account.id !== debtor.id) return debtor
  throw invalidField('CreditorAccount.Identification', 'INVALID', "is the debtor's own account")
}
