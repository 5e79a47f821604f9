import type { Structure } from './structure.ts'
import type { Verb } from '../language.ts'

export type VerbGroup =
  | 'payments'
  | 'webhooks'
  | 'disputes'
  | 'payers'
  | 'customers'
  | 'merchants'
  | 'other'
  | 'structures'

type VerbText = { group: VerbGroup; text: string; examples?: readonly string[] }

/** What each verb does, with examples beside the one in its schema. A total record: a new verb needs a row. */
export const VERB_TEXTS: Readonly<Record<Verb | Structure, VerbText>> = {
  pay: {
    group: 'payments',
    text: "Creates a payment: a new one, the same key again (`repeat`), from a customer's account, or under a mandate.",
    examples: [
      'pay: { as: p1, amount: "50.00", currency: GBP, scenario: insufficient-funds, bank: approve }',
      'pay: { repeat: $p1, expect: { http: 200 } }',
      'pay: { as: m1, amount: "9.99", currency: GBP, mandate: { max_amount_per_payment: "20.00", valid_for: 90d } }',
      'pay: { amount: "5.00", currency: GBP, consent: $p1 }',
    ],
  },
  bank: {
    group: 'payments',
    text: 'Simulates the payer at the bank, or sets fault injection.',
    examples: [
      'bank: { cancel: $p1 }',
      'bank: { approve: $p1, returns: false }',
      'bank: { approve: $p1, login: { code: ["000000", "123456"] } }',
      'bank: { fault: { unavailable: 30% } }',
    ],
  },
  checkout: {
    group: 'payments',
    text: "Pays as the widget does, with a token of the merchant's server: signed, unsigned or with a `wrong` signature.",
    examples: [
      'checkout: { amount: "12.50", currency: GBP, pays: false, opened: { is_paid: false } }',
      'checkout: { again: $p1 }',
    ],
  },
  sca: {
    group: 'payments',
    text: 'Passes back the redirect of the bank, or another one.',
    examples: ['sca: { payment: $p1, code: made-up }'],
  },
  'payment.cancel': { group: 'payments', text: 'Cancels a payment as the merchant or the payer.' },
  'payment.contact': {
    group: 'payments',
    text: 'Leaves the e-mail address or phone number of the payer on the receipt.',
  },
  refund: {
    group: 'payments',
    text: 'Refunds a payment, in full or in part.',
    examples: ['refund: { as: r, payment: $p1, amount: "10.00", expect: { status: Refunded } }'],
  },
  await: { group: 'payments', text: 'Waits for a status; one that was passed in the meantime counts too.' },
  expect: {
    group: 'payments',
    text: 'Checks how things are now.',
    examples: ['expect: { of: $p1, status: Settled, history: [AwaitingAuthorisation, Authorised, Settled] }'],
  },
  webhooks: {
    group: 'webhooks',
    text: 'Checks that the receiver got these events for the payment in this order, with others between. `exactly`: no others.',
    examples: ['webhooks: { for: $p1, in_order: [payment.initiated, payment.authorized], exactly: true }'],
  },
  receiver: {
    group: 'webhooks',
    text: 'Sets how the receiver answers from now on, how late, and which secret it knows.',
    examples: ['receiver: { answers: [500, 200] }', 'receiver: { delay: 6s }', 'receiver: { secret: previous }'],
  },
  endpoint: { group: 'webhooks', text: 'Pauses or resumes the webhook endpoint.' },
  replay: {
    group: 'webhooks',
    text: 'Sends DEAD deliveries again, one or all.',
    examples: ['replay: { status: DEAD, expect: { matching: 3 } }'],
  },
  rotate_secret: { group: 'webhooks', text: 'Rotates the signing secret.' },
  dispute: { group: 'disputes', text: 'Raises a dispute as the payer, the merchant or the platform.' },
  evidence: { group: 'disputes', text: 'Submits evidence as the merchant.' },
  accept: { group: 'disputes', text: 'Accepts the dispute as the merchant.' },
  escalate: { group: 'disputes', text: 'Passes the dispute to the OWNER of the platform.' },
  resolve: { group: 'disputes', text: 'Resolves the dispute.' },
  'payer.link': { group: 'payers', text: 'Requests a sign-in link; `arrives: false` where none may come.' },
  'payer.verify': { group: 'payers', text: 'Opens the link, or an invented `token`.' },
  'payer.payments': {
    group: 'payers',
    text: 'Checks the payments that the hub lists.',
    examples: ['payer.payments: { payer: $ada, count: 1, newest: [{ status: Settled }] }'],
  },
  'payer.consents': { group: 'payers', text: 'Checks the mandates that the hub lists.' },
  'payer.dispute': { group: 'payers', text: 'Disputes a payment in the hub.' },
  'payer.sign_out': { group: 'payers', text: 'Ends the session of the payer.' },
  'consent.cancel': { group: 'payers', text: 'Ends a mandate as the payer, by the name of its first payment.' },
  'consent.end': { group: 'payers', text: 'Ends a mandate as the merchant.' },
  customer: {
    group: 'customers',
    text: 'Creates a customer with an account and money on it.',
    examples: ['customer: { as: c1, name: Jo, balance: "500.00" }'],
  },
  account: { group: 'customers', text: 'Blocks, closes or opens an account, or sets its overdraft.' },
  accounts: { group: 'customers', text: 'Reads accounts over the Open Banking API.' },
  balances: { group: 'customers', text: 'Reads a balance; `account: $c2` tries the account of another customer.' },
  transactions: {
    group: 'customers',
    text: 'Reads the transactions of an account.',
    examples: ['transactions: { of: $c1, from: "2026-01-01", expect: { Data: [{ CreditDebitIndicator: Credit }] } }'],
  },
  order: { group: 'customers', text: 'Orders a payment.' },
  recurring: {
    group: 'customers',
    text: 'Creates or cancels a standing order.',
    examples: ['recurring: { cancel: $s1 }'],
  },
  request: {
    group: 'customers',
    text: 'Requests money. The other side accepts or rejects, the author cancels.',
    examples: ['request: { accept: $r1 }'],
  },
  offer: { group: 'customers', text: 'Offers money, likewise.', examples: ['offer: { reject: $f1 }'] },
  merchant: {
    group: 'merchants',
    text: 'Creates another merchant, with a receiver of its own where asked for.',
    examples: ['merchant: { as: other, name: Other Ltd, receiver: {} }'],
  },
  register: { group: 'merchants', text: 'Registers a merchant over the public API; its KYB status is PENDING.' },
  kyb: {
    group: 'merchants',
    text: 'Approves, suspends or reinstates a merchant.',
    examples: ['kyb: { of: $new, status: APPROVED }'],
  },
  hold: { group: 'merchants', text: 'Holds or releases payouts; while held, no payments can be created.' },
  active: { group: 'merchants', text: 'Disables or enables a merchant.' },
  fees: { group: 'merchants', text: 'Sets the fees of future payments.' },
  branding: { group: 'merchants', text: 'Sets the look of the checkout.' },
  origins: { group: 'merchants', text: 'Sets the pages that may embed the checkout.' },
  bank_account: {
    group: 'merchants',
    text: 'Adds or disables a payout account.',
    examples: ['bank_account: { disable: $b1 }'],
  },
  clock: { group: 'other', text: "Advances the clock of the case's merchant and of the customers it created." },
  http: {
    group: 'other',
    text:
      'Sends any request below `/api/v1` or to `/open-banking/…`: as the merchant, or as an operator on `/admin/…` and ' +
      '`/sandbox/…`. `by` names another caller: a customer, a signed-in payer, another merchant, `operator` or `nobody`.',
    examples: [
      'http: { get: /open-banking/v1/accounts, by: $c1 }',
      'http: { get: "/payments/$p1.payment_id", expect: { http: 200, body: { status: Settled } } }',
      'http: { post: /payments, body: { amount: 5 }, expect: { http: 400 } }',
    ],
  },
  exec: {
    group: 'other',
    text:
      'Runs a command with `SVC_API_URL`, `SVC_CLIENT_ID`, `SVC_CLIENT_SECRET`, `SVC_REALM` and `SVC_WEBHOOK_SECRET` in ' +
      'its environment; only with `--allow-exec`.',
    examples: ['exec: { run: [node, check.mjs, $p1.payment_id], expect: { exit: 0, json: { ok: true } } }'],
  },
  parallel: { group: 'structures', text: 'Plays 2 to 32 branches at once; their names are available afterwards.' },
  for_each: {
    group: 'structures',
    text: 'Plays the steps for each of up to 200 items; `at_once: true` plays them at the same time.',
  },
  use: {
    group: 'structures',
    text: 'Plays the steps of another file; its path is relative to this file.',
    examples: ['use: { file: ./common.yaml, vars: { amount: "5.00" } }'],
  },
}

/** What the two verbs that look at things can look at. */
export const MATCHED: readonly { subject: string; awaits: readonly string[]; expects: readonly string[] }[] = [
  {
    subject: 'A payment',
    awaits: ['await: { payment: $p1, status: Failed }'],
    expects: ['expect: { of: $p1, failure: { code: ACCESS_DENIED } }'],
  },
  {
    subject: 'A delivery and its payload',
    awaits: ['await: { webhook: payment.settled, for: $p1, status: DELIVERED }'],
    expects: [
      'expect: { webhook: payment.settled, for: $p1, attempt_count: 1, payload: { eventType: payment.settled } }',
    ],
  },
  {
    subject: 'A dispute; one that another caller raised gets a name',
    awaits: ['await: { dispute: $d1, status: UNDER_REVIEW }', 'await: { dispute_of: $p1, as: d2 }'],
    expects: ['expect: { dispute: $d1, evidence_missing: true }'],
  },
  {
    subject: 'A mandate, by the name of its first payment',
    awaits: ['await: { consent: $p1, status: EXPIRED }'],
    expects: ['expect: { consent: $p1, status: AUTHORISED }'],
  },
  {
    subject: 'A payment as its payer sees it in the hub',
    awaits: [],
    expects: ['expect: { receipt: $p1, payer: $ada, status: Settled }'],
  },
  {
    subject: "An account: a customer's, or `$merchant`, the settlement account",
    awaits: ['await: { account: $c1, balance: "70.00" }'],
    expects: ['expect: { account: $merchant, balance: "30.00" }'],
  },
  {
    subject: 'An order over the Open Banking API',
    awaits: ['await: { order: $o1, status: Rejected }'],
    expects: ['expect: { order: $o1, Status: Rejected, StatusReasonCode: AM04 }'],
  },
  {
    subject: 'A standing order and the number of its payments',
    awaits: ['await: { recurring: $s1, payments: 3 }'],
    expects: ['expect: { recurring: $s1, Status: InitiationCompleted }'],
  },
  {
    subject: 'A request, an offer',
    awaits: ['await: { request: $r1, status: Paid }'],
    expects: ['expect: { offer: $f1, Status: Rejected }'],
  },
  {
    subject: 'A merchant as operators see it',
    awaits: [],
    expects: ['expect: { merchant: $other, payout_held: true }'],
  },
  {
    subject: 'The newest entry of an action in the audit trail',
    awaits: [],
    expects: ['expect: { audit: merchant.hold }'],
  },
  {
    subject: 'All accounts of the bank: no money was created or lost',
    awaits: [],
    expects: ['expect: { books: balanced }'],
  },
]
