import { getBalance } from '../../accounts/get-balance.ts'
import { listAccounts } from '../../accounts/list-accounts.ts'
import { listAccountTransactions } from '../../accounts/list-account-transactions.ts'
import type { AccountRecord, AccountTransactionRecord } from '../../accounts/record.ts'
import { IBAN, SORT_CODE_ACCOUNT_NUMBER } from '../../lib/account-identification.ts'
import { fromMinorUnits } from '../../lib/minor-units.ts'
import type * as wire from '../../wire/accounts.ts'
import type { Handlers } from '../endpoint.ts'
import { onlyPage, pageLinks, pagesOf } from '../open-banking-page.ts'
import { customerOf } from '../principal.ts'

export const accounts: Handlers<typeof wire> = {
  /** GET /open-banking/v1/accounts */
  async listAccounts({ pool, publicUrl }, { principal, query }) {
    const { accounts, count } = await listAccounts({ pool }, { customerId: customerOf(principal).customerId, ...query })
    const links = pageLinks({ publicUrl, path: '/accounts', query }, pagesOf(count, query.pageSize))
    return { status: 200, body: { Data: accounts.map(presentAccount), ...links } }
  },

  /** GET /open-banking/v1/accounts/{AccountId}/balances */
  async getBalance({ pool, publicUrl }, { principal, params }) {
    const { customerId } = customerOf(principal)
    const { id, currency, balance_minor } = await getBalance({ pool }, { customerId, accountId: params.AccountId })
    const { Amount: BalanceAmount, CreditDebitIndicator } = presentBalance(balance_minor, currency)
    return {
      status: 200,
      body: {
        Data: { AccountId: id, BalanceAmount, CreditDebitIndicator },
        ...onlyPage({ publicUrl, path: `/accounts/${id}/balances` }),
      },
    }
  },

  /** GET /open-banking/v1/accounts/{AccountId}/transactions */
  async listAccountTransactions({ pool, publicUrl }, { principal, params, query }) {
    const { customerId } = customerOf(principal)
    const { AccountId: accountId } = params
    const { transactions, count } = await listAccountTransactions({ pool }, { customerId, accountId, query })
    const path = `/accounts/${accountId.toLowerCase()}/transactions`
    const links = pageLinks({ publicUrl, path, query }, pagesOf(count, query.pageSize))
    return { status: 200, body: { Data: transactions.map(presentTransaction), ...links } }
  },
}

function presentAccount(account: AccountRecord): wire.Account {
  const { name: Name, nickname, sort_code_account_number, iban } = account
  return {
    AccountId: account.id,
    Currency: account.currency,
    AccountType: account.account_type,
    AccountSubType: account.account_sub_type,
    ...(nickname === null ? {} : { Nickname: nickname }),
    Status: account.status,
    Account: [
      ...(sort_code_account_number === null
        ? []
        : ([{ SchemeName: SORT_CODE_ACCOUNT_NUMBER, Identification: sort_code_account_number, Name }] as const)),
      ...(iban === null ? [] : ([{ SchemeName: IBAN, Identification: iban, Name }] as const)),
    ],
  }
}

function presentTransaction(transaction: AccountTransactionRecord): wire.AccountTransaction {
  const { currency, reference, counterparty_name } = transaction
  return {
    TransactionId: transactionId(transaction),
    Amount: { Amount: fromMinorUnits(transaction.amount_minor, currency), Currency: currency },
    CreditDebitIndicator: transaction.credit_debit_indicator,
    Status: transaction.status,
    BookingDateTime: transaction.booking_date_time,
    ...(reference === null ? {} : { TransactionReference: reference }),
    ...(counterparty_name === null ? {} : { TransactionInformation: counterparty_name }),
    Balance: presentBalance(transaction.balance_minor, currency),
  }
}

const NUMBER_DIGITS = 12

/** Ids of one account sort as its transactions do. They start with the account, so that they are unique. */
function transactionId({ account_id, number }: AccountTransactionRecord): string {
  return `${account_id.slice(-12)}-${number.toString().padStart(NUMBER_DIGITS, '0')}`
}

/** A debt is a positive amount with `Debit`; zero is `Credit` (decision 59). */
function presentBalance(minor: bigint, currency: string): wire.AccountTransaction['Balance'] {
  const isOwed = minor < 0n
  return {
    Amount: { Amount: fromMinorUnits(isOwed ? -minor : minor, currency), Currency: currency },
    CreditDebitIndicator: isOwed ? 'Debit' : 'Credit',
  }
}
