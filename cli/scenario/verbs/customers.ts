import type { z } from 'zod'
import { CUSTOMERS_REALM } from '../../../src/lib/realms.ts'
import { listAccountTransactions } from '../../../src/wire/accounts.ts'
import { createOrder, getOrder } from '../../../src/wire/orders.ts'
import type { PaymentResponse } from '../../../src/wire/orders.ts'
import { checkBooks, createSandboxCustomer, listSandboxAccounts } from '../../../src/wire/sandbox-bank.ts'
import type { NewAccount, NewCustomer, SandboxAccount } from '../../../src/wire/sandbox-bank.ts'
import { call } from '../../client/call.ts'
import { awaitThat } from '../play/await-that.ts'
import { isMerchant, keep, madeOf, merchantOf, readInput } from '../play/case-run.ts'
import type { CaseRun, MadeAs, MadeCustomer } from '../play/case-run.ts'
import { StepFailure } from '../failure.ts'
import { refuseUnlike } from './refuse-unlike.ts'
import { refuseDifferences } from '../assert-matches.ts'
import {
  AwaitAccount,
  AwaitOrder,
  CustomerStep,
  ExpectAccount,
  ExpectOrder,
  OF_CUSTOMER,
  OrderStep,
} from '../language/customers.ts'
import type { Payee } from '../language/instructions.ts'
import { differencesOf } from '../matchers.ts'

/** Makes a customer of the bank with an account and money. */
export async function customer(run: CaseRun, given: unknown): Promise<void> {
  const { as, ...wish } = readInput(run, CustomerStep, given)
  const { body } = await call(run.client, createSandboxCustomer, {
    body: { ...newCustomer(wish), reference: run.newKey('customer', wish) },
  })
  // Its answer holds the client's secret, which no report may show.
  run.lastExchange = undefined
  const [account] = body.accounts
  if (account === undefined) throw new StepFailure('the new customer has no account')
  const { client_secret: clientSecret, ...shown } = body
  const client =
    body.client_id === null || clientSecret === null
      ? undefined
      : { realm: CUSTOMERS_REALM, clientId: body.client_id, clientSecret }
  const credentials = run.client.credentials.asCustomer({ customerId: body.customer_id, client })
  const made = { kind: 'customer' as const, customer: body, account, client: { ...run.client, credentials } }
  keep(run, as, made, { ...shown, account_id: account.account_id })
}

function newCustomer(wish: Omit<z.output<typeof CustomerStep>, 'as'>): z.input<typeof NewCustomer> {
  const said = Object.entries(wish).filter(([, value]) => value !== undefined)
  const own = said.filter(([name]) => OF_CUSTOMER.includes(name))
  // What a step may say of a customer and its account is what the two of them have; the service checks the values.
  const account = Object.fromEntries(said.filter(([name]) => !OF_CUSTOMER.includes(name))) as z.input<typeof NewAccount>
  return { ...Object.fromEntries(own), accounts: [account] }
}

/** Orders a payment over the Open Banking API, as the customer. */
export async function order(run: CaseRun, given: unknown): Promise<void> {
  const input = readInput(run, OrderStep, given)
  const payer = madeOf(run, 'customer', input.from)
  // A repeat under the same key has the same body.
  const name = input.idempotency_key ?? input.as ?? 'scenario'
  const reply = await call(clientOf(run, payer), createOrder, {
    headers: { 'x-idempotency-key': input.idempotency_key ?? run.newKey('order', given) },
    body: {
      InstructionIdentification: name,
      EndToEndIdentification: name,
      InstructedAmount: { Amount: input.amount, Currency: input.currency ?? payer.account.currency },
      CreditorAccount: payeeOf(run, input.to),
      ...(input.reference === undefined ? {} : { RemittanceInformation: { Reference: input.reference } }),
    },
  })
  keep(run, input.as, { kind: 'order', customer: payer, id: reply.body.PaymentId }, reply.body)
  refuseUnlike('the payment', reply, { usual: 201, expected: input.expect })
}

/** The account that a step pays: a customer's, or one anywhere. */
export function payeeOf(run: CaseRun, to: z.output<typeof Payee>): Exclude<z.output<typeof Payee>, string> {
  return typeof to === 'string' ? numberOf(madeOf(run, 'customer', to)) : to
}

/** By what others pay a customer. */
export function numberOf({ account, name }: MadeAs<'customer'>): SandboxAccount['identifications'][number] {
  const [number] = account.identifications
  if (number === undefined) throw new StepFailure(`the account of $${name} has no number`)
  return number
}

/** The case's own client, as it is now, acting for a customer. */
export function clientOf(run: CaseRun, { client }: MadeCustomer): CaseRun['client'] {
  return { ...run.client, credentials: client.credentials }
}

export async function awaitOrder(run: CaseRun, given: unknown): Promise<void> {
  const { order: reference, status: wanted, within } = readInput(run, AwaitOrder, given)
  await awaitThat(run, {
    what: reference,
    wanted,
    within,
    look: () => orderNow(run, reference),
    isThere: ({ Status }) => Status === wanted,
    isOver: ({ Status }) => Status === 'AcceptedSettlementCompleted' || Status === 'Rejected',
    now: statusText,
    hint: (_last, isOver) => (isOver ? undefined : 'a longer within; svc status tells whether a worker runs'),
  })
}

type WithStatus = { Status: string; StatusReasonCode?: string | undefined; StatusReason?: string | undefined }

/** A status of the Open Banking API, and why it is so. */
export function statusText({ Status, StatusReasonCode: code, StatusReason: reason = '' }: WithStatus): string {
  return code === undefined ? Status : `${Status} (${code}: ${reason})`
}

async function orderNow(run: CaseRun, reference: string): Promise<PaymentResponse> {
  const { customer: payer, id } = madeOf(run, 'order', reference)
  return (await call(clientOf(run, payer), getOrder, { params: { PaymentId: id } })).body
}

export async function expectOrder(run: CaseRun, given: unknown): Promise<void> {
  const { order: reference, ...expected } = readInput(run, ExpectOrder, given)
  refuseDifferences(reference, differencesOf(expected, await orderNow(run, reference)))
}

export async function awaitAccount(run: CaseRun, given: unknown): Promise<void> {
  const { account: reference, balance: wanted, within } = readInput(run, AwaitAccount, given)
  await awaitThat(run, {
    what: `the balance of ${reference}`,
    wanted,
    within,
    look: () => accountNow(run, reference),
    isThere: ({ balance }) => balance === wanted,
    now: ({ balance }) => balance,
    at: 'balance',
  })
}

export async function expectAccount(run: CaseRun, given: unknown): Promise<void> {
  const { account: reference, transactions, ...expected } = readInput(run, ExpectAccount, given)
  const account = await accountNow(run, reference)
  if (account === undefined)
    throw new StepFailure(`there is no account of ${reference}`, {
      at: ['account'],
      hint: "a merchant's settlement account is there once money has come to it",
    })
  refuseDifferences(`the account of ${reference}`, differencesOf(expected, account))
  if (transactions === undefined) return
  const owner = madeOf(run, 'customer', reference)
  const { body } = await call(clientOf(run, owner), listAccountTransactions, {
    params: { AccountId: account.account_id },
  })
  const newest = body.Data.slice(0, transactions.length)
  refuseDifferences(`the transactions of ${reference}`, differencesOf(transactions, newest), ['transactions'])
}

/** An account as the bank has it now: a customer's, or a merchant's settlement account. */
async function accountNow(run: CaseRun, reference: string): Promise<SandboxAccount | undefined> {
  const query = isMerchant(run, reference)
    ? { merchant_id: merchantOf(run, reference).merchant.merchant_id }
    : { customer_id: madeOf(run, 'customer', reference).customer.customer_id }
  return (await call(run.client, listSandboxAccounts, { query })).body.data[0]
}

/** No money is made and none is lost, whatever other cases do meanwhile. */
export async function expectBooks(run: CaseRun): Promise<void> {
  const { body } = await call(run.client, checkBooks, {})
  if (body.is_balanced) return
  const wrong = body.totals.filter(({ difference, wrong_accounts }) => difference !== '0.00' || wrong_accounts > 0)
  const told = wrong.map((total) => `${total.currency} ${total.difference}, ${total.wrong_accounts} wrong accounts`)
  throw new StepFailure(`the bank's books are not balanced: ${told.join('; ')}`, { hint: 'svc sandbox books' })
}
