import { z } from 'zod'
import { CUSTOMERS_REALM } from '../../../src/lib/realms.ts'
import { listAccountTransactions } from '../../../src/wire/accounts.ts'
import { OrderStatus, PaymentResponse, createOrder, getOrder } from '../../../src/wire/orders.ts'
import {
  NewAccount,
  NewCustomer,
  SandboxAccount,
  checkBooks,
  createSandboxCustomer,
  listSandboxAccounts,
  setSandboxAccount,
} from '../../../src/wire/sandbox-bank.ts'
import { call } from '../../client/call.ts'
import { refuseDifferences } from '../assert-matches.ts'
import { StepFailure } from '../failure.ts'
import { Matcher, Name, Ref, Text, Wait, expectedOf, matchersOf, made } from '../language/parts.ts'
import { differencesOf } from '../matchers.ts'
import { isMerchant, keep, madeOf, merchantOf } from '../play/case-run.ts'
import type { CaseRun, MadeAs, MadeCustomer } from '../play/case-run.ts'
import { form, sends, verb, waits, comparison } from './verb.ts'
import type { Subject } from './verb.ts'

/** The fields that are the customer's own; the others are its account's. */
const OF_CUSTOMER: readonly string[] = Object.keys(NewCustomer.shape).filter((name) => name !== 'accounts')

const customer = verb({
  schema: z.strictObject({
    as: Name,
    name: Text.optional(),
    email: Text.optional(),
    mobile: Text.optional(),
    proxy_id: Text.optional(),
    /** Of the account: "1000.00" where nothing is said. */
    balance: Text.optional(),
    currency: NewAccount.shape.currency.unwrap().optional(),
    overdraft_limit: Text.optional(),
    status: NewAccount.shape.status.unwrap().optional(),
  }),
  text: 'Creates a customer with an account and money on it.',
  examples: ['customer: { as: c1, balance: "500.00" }', 'customer: { as: c1, name: Jo, balance: "500.00" }'],
  makes: {
    kind: 'customer',
    members: ['customer_id', 'name', 'email', 'mobile', 'proxy_id', 'account_id', 'accounts'],
  },
  async play(run, { as, ...input }) {
    const { body } = await call(run.client, createSandboxCustomer, {
      body: { ...newCustomer(input), reference: run.newKey('customer', input) },
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
    const acting = { kind: 'customer' as const, customer: body, account, client: { ...run.client, credentials } }
    keep(run, as, acting, { ...shown, account_id: account.account_id })
  },
})

function newCustomer(input: object): z.input<typeof NewCustomer> {
  const said = Object.entries(input)
  const own = said.filter(([name]) => OF_CUSTOMER.includes(name))
  // What a step may say of a customer and its account is what the two of them have; the service checks the values.
  const account = Object.fromEntries(said.filter(([name]) => !OF_CUSTOMER.includes(name))) as z.input<typeof NewAccount>
  return { ...Object.fromEntries(own), accounts: [account] }
}

/** A customer, or an account anywhere. */
export const Payee = z.union([
  Ref.customer,
  z.strictObject({ SchemeName: Text, Identification: Text, Name: Text.optional() }),
])

export function payeeOf(run: CaseRun, to: z.output<typeof Payee>): Exclude<z.output<typeof Payee>, string> {
  return typeof to === 'string' ? numberOf(madeOf(run, 'customer', to)) : to
}

export function numberOf({ account, name }: MadeAs<'customer'>): SandboxAccount['identifications'][number] {
  const [number] = account.identifications
  if (number === undefined) throw new StepFailure(`the account of $${name} has no number`)
  return number
}

/** The case's own client, as it is now, acting for a customer. */
export function clientOf(run: CaseRun, { client }: MadeCustomer): CaseRun['client'] {
  return { ...run.client, credentials: client.credentials }
}

export function asCustomer(run: CaseRun, reference: string): CaseRun['client'] {
  return clientOf(run, madeOf(run, 'customer', reference))
}

const order = verb({
  schema: z.strictObject({
    as: Name.optional(),
    from: Ref.customer,
    to: Payee,
    amount: Text,
    currency: Text.optional(),
    reference: Text.optional(),
    idempotency_key: Text.optional(),
    expect: expectedOf(PaymentResponse),
  }),
  text: 'Orders a payment.',
  examples: ['order: { as: o1, from: $c1, to: $c2, amount: "10.00" }'],
  makes: made('order', PaymentResponse),
  play: sends({
    operation: createOrder,
    what: 'the payment',
    by: (run, { from }) => asCustomer(run, from),
    request(run, { idempotency_key: key, as, from, to, amount, currency, reference }) {
      // A repeat under the same key has the same body.
      const name = key ?? as ?? 'scenario'
      return {
        body: {
          InstructionIdentification: name,
          EndToEndIdentification: name,
          InstructedAmount: { Amount: amount, Currency: currency ?? madeOf(run, 'customer', from).account.currency },
          CreditorAccount: payeeOf(run, to),
          ...(reference === undefined ? {} : { RemittanceInformation: { Reference: reference } }),
        },
      }
    },
    made: (run, { PaymentId: id }, { from }) => ({ kind: 'order', customer: madeOf(run, 'customer', from), id }),
  }),
})

const account = verb({
  schema: z
    .strictObject({
      of: Ref.customer,
      status: setSandboxAccount.body.shape.status,
      overdraft_limit: Text.optional(),
      expect: expectedOf(SandboxAccount),
    })
    .refine(({ status, overdraft_limit: limit }) => status !== undefined || limit !== undefined, {
      message: 'account takes one or both of status and overdraft_limit',
    }),
  text: 'Blocks, closes or opens an account, or sets its overdraft.',
  examples: ['account: { of: $c1, status: Blocked }'],
  play: sends({
    operation: setSandboxAccount,
    what: ({ of }) => `the account of ${of}`,
    request: (run, { of, status, overdraft_limit }) => ({
      params: { id: madeOf(run, 'customer', of).account.account_id },
      body: { status, overdraft_limit },
    }),
  }),
})

export const CUSTOMER_VERBS = { customer, order, account }

export type WithStatus = { Status: string; StatusReasonCode?: string | undefined; StatusReason?: string | undefined }

export function statusText({ Status, StatusReasonCode: code, StatusReason: reason = '' }: WithStatus): string {
  return code === undefined ? Status : `${Status} (${code}: ${reason})`
}

async function orderNow(run: CaseRun, reference: string): Promise<PaymentResponse> {
  const { customer: payer, id } = madeOf(run, 'order', reference)
  return (await call(clientOf(run, payer), getOrder, { params: { PaymentId: id } })).body
}

export const ORDER = {
  subject: 'An order over the Open Banking API',
  awaits: [
    form({
      schema: z.strictObject({ order: Ref.order, status: OrderStatus, within: Wait.optional() }),
      examples: ['await: { order: $o1, status: Rejected }'],
      play: waits(
        (run, input) => orderNow(run, input.order),
        ({ order: reference }) => ({
          what: reference,
          status: ({ Status }) => Status,
          isOver: ['AcceptedSettlementCompleted', 'Rejected'],
          now: statusText,
          hint: (_last, isOver) => (isOver ? undefined : 'use a longer within; svc status shows whether a worker runs'),
        }),
      ),
    }),
  ],
  expects: [
    comparison({
      schema: z.strictObject({ ...matchersOf(PaymentResponse), order: Ref.order }),
      examples: ['expect: { order: $o1, Status: Rejected, StatusReasonCode: AM04 }'],
      what: ({ order: reference }) => reference,
      now: (run, { order: reference }) => orderNow(run, reference),
      beside: ['order'],
    }),
  ],
} as const satisfies Subject

/** An account as the bank has it now: a customer's, or a merchant's settlement account. */
async function accountNow(run: CaseRun, reference: string): Promise<SandboxAccount | undefined> {
  const query = isMerchant(run, reference)
    ? { merchant_id: merchantOf(run, reference).merchant.merchant_id }
    : { customer_id: madeOf(run, 'customer', reference).customer.customer_id }
  return (await call(run.client, listSandboxAccounts, { query })).body.data[0]
}

export const ACCOUNT = {
  subject: "An account: a customer's, or `$merchant`, the settlement account",
  awaits: [
    form({
      schema: z.strictObject({ account: Ref.account, balance: Text, within: Wait.optional() }),
      examples: ['await: { account: $c1, balance: "70.00" }'],
      play: waits(
        (run, input) => accountNow(run, input.account),
        ({ account: reference, balance: wanted }) => ({
          what: `the balance of ${reference}`,
          wanted,
          status: ({ balance }) => balance,
          at: 'balance',
        }),
      ),
    }),
  ],
  expects: [
    form({
      schema: z.strictObject({
        ...matchersOf(SandboxAccount),
        account: Ref.account,
        /** The newest transactions, the newest first, as the Open Banking API lists them. */
        transactions: z.array(Matcher).max(100).optional(),
      }),
      examples: ['expect: { account: $merchant, balance: "30.00" }'],
      async play(run, { account: reference, transactions: wanted, ...expected }) {
        const found = await accountNow(run, reference)
        if (found === undefined)
          throw new StepFailure(`there is no account of ${reference}`, {
            at: ['account'],
            hint: "a merchant's settlement account is there once money has come to it",
          })
        refuseDifferences(`the account of ${reference}`, differencesOf(expected, found))
        if (wanted === undefined) return
        const { body } = await call(asCustomer(run, reference), listAccountTransactions, {
          params: { AccountId: found.account_id },
        })
        // An empty list says that there is none.
        const newest = body.Data.slice(0, Math.max(wanted.length, 1))
        refuseDifferences(`the transactions of ${reference}`, differencesOf(wanted, newest), ['transactions'])
      },
    }),
  ],
} as const satisfies Subject

/** No money is made and none is lost, whatever other cases do meanwhile. */
export const BOOKS = {
  subject: 'All accounts of the bank: no money was created or lost',
  awaits: [],
  expects: [
    form({
      schema: z.strictObject({ books: z.literal('balanced') }),
      examples: ['expect: { books: balanced }'],
      async play(run) {
        const { body } = await call(run.client, checkBooks, {})
        if (body.is_balanced) return
        const wrong = body.totals.filter(
          ({ difference, wrong_accounts }) => difference !== '0.00' || wrong_accounts > 0,
        )
        const differences = wrong.map(
          (total) => `${total.currency} ${total.difference}, ${total.wrong_accounts} wrong accounts`,
        )
        throw new StepFailure(`the bank's books are not balanced: ${differences.join('; ')}`, {
          hint: 'svc sandbox books',
        })
      },
    }),
  ],
} as const satisfies Subject
