import { getBalance, listAccountTransactions, listAccounts } from '../../../src/wire/accounts.ts'
import { setSandboxAccount } from '../../../src/wire/sandbox-bank.ts'
import { call } from '../../client/call.ts'
import { madeOf, readInput } from '../play/case-run.ts'
import type { CaseRun } from '../play/case-run.ts'
import { AccountStep, Accounts, Balances, Transactions } from '../language/accounts.ts'
import { clientOf } from './customers.ts'
import { refuseUnlike } from './refuse-unlike.ts'

/** Lists a customer's accounts, as the customer. */
export async function accounts(run: CaseRun, given: unknown): Promise<void> {
  const { as, of, page, page_size: pageSize, expect } = readInput(run, Accounts, given)
  const client = clientOf(run, madeOf(run, 'customer', of))
  const reply = await call(client, listAccounts, { query: { page, pageSize } })
  if (as !== undefined) run.captures.set(as, reply.body)
  refuseUnlike(`the accounts of ${of}`, reply, { usual: 200, expected: expect })
}

/** Looks at what is on an account, as the customer. */
export async function balances(run: CaseRun, given: unknown): Promise<void> {
  const input = readInput(run, Balances, given)
  const client = clientOf(run, madeOf(run, 'customer', input.of))
  const { status, body } = await call(client, getBalance, { params: idOf(run, input) })
  if (input.as !== undefined) run.captures.set(input.as, body.Data)
  refuseUnlike(
    `the balance of ${input.account ?? input.of}`,
    { status, body: body.Data },
    { usual: 200, expected: input.expect },
  )
}

/** Lists what was booked on an account, as the customer. */
export async function transactions(run: CaseRun, given: unknown): Promise<void> {
  const input = readInput(run, Transactions, given)
  const { page, page_size: pageSize, from: fromBookingDateTime, to: toBookingDateTime } = input
  const client = clientOf(run, madeOf(run, 'customer', input.of))
  const reply = await call(client, listAccountTransactions, {
    params: idOf(run, input),
    query: { page, pageSize, fromBookingDateTime, toBookingDateTime },
  })
  if (input.as !== undefined) run.captures.set(input.as, reply.body)
  refuseUnlike(`the transactions of ${input.account ?? input.of}`, reply, { usual: 200, expected: input.expect })
}

type Which = { of: string; account?: string | undefined; account_id?: string | undefined }

function idOf(run: CaseRun, { of, account, account_id }: Which): { AccountId: string } {
  return { AccountId: account_id ?? madeOf(run, 'customer', account ?? of).account.account_id }
}

/** Blocks, closes or opens a customer's account, as the bank. */
export async function account(run: CaseRun, given: unknown): Promise<void> {
  const { of, expect, ...body } = readInput(run, AccountStep, given)
  const { account_id: id } = madeOf(run, 'customer', of).account
  refuseUnlike(`the account of ${of}`, await call(run.client, setSandboxAccount, { params: { id }, body }), {
    usual: 200,
    expected: expect,
  })
}
