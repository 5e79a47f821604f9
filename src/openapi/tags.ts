type Tag = { name: string; description: string }

/** The areas of the API, each with the paths that belong to it, without `api` and version. The first that fits counts. */
const AREAS: readonly (readonly [pattern: RegExp, name: string, description: string])[] = [
  [/^open-banking\/accounts/, 'Accounts', "A customer's accounts with balances and transactions."],
  [/^open-banking\/payments/, 'Payment orders', 'Single payments from an account of the customer.'],
  [/^open-banking\/recurring-payments/, 'Recurring payments', 'Payments that repeat until they are cancelled.'],
  [/^open-banking\/request-to-pay/, 'Requests to pay', 'A payee asks a payer for money.'],
  [/^open-banking\/offer-to-pay/, 'Offers to pay', 'A payer offers money to a payee.'],
  [/dispute/, 'Disputes', 'Disagreements about settled payments, with evidence and decision.'],
  [/refund/, 'Refunds', 'Giving money back, in full or in part.'],
  [/^(admin\/)?payments|^banks$|^bank\//, 'Payments', 'Create, follow and cancel payments.'],
  [
    /^checkout|checkout-origins|branding/,
    'Checkout',
    'The embedded checkout: where it may be shown, and how it looks.',
  ],
  [/consents/, 'Mandates', 'Consents for recurring payments, with their limits.'],
  [/webhook|outbox/, 'Webhooks', 'The endpoint, its signing secret, and deliveries.'],
  [/events/, 'Events', 'What has happened: the feed and the stream.'],
  [/transactions/, 'Transactions', 'Settled payments, fees and refunds.'],
  [
    /settlement|payout|balances|bank-accounts|corrections/,
    'Settlements and payouts',
    'What is owed, and how it is paid.',
  ],
  [
    /reconciliation|statements|statement-lines|unmatched/,
    'Reconciliation',
    'Comparing payments, ledger, bank and statements.',
  ],
  [/team|api-credentials|staff|whoami/, 'People and credentials', 'Who may use the service, and as what.'],
  [/register|registrations|merchants/, 'Merchants', 'Registration, review, limits, fees and holds.'],
  [/^payer\//, 'Payer hub', "A payer's own payments and mandates."],
  [/^sandbox\//, 'Sandbox', 'Test merchants, customers, clock and faults. Not in live mode.'],
  [
    /explain|inbox|overview|audit|realms|banks|service|payers/,
    'Operations',
    'Tasks, explanations, audit trail and keys.',
  ],
]

/** The area of a path. A test holds that every path has one. */
export function tagOf(path: string): Tag {
  const below = path.replace(/^\/(?:api\/v1\/)?/, '').replace('/v1/', '/')
  // The sandbox and the payer hub are areas whatever they are about.
  const [, name, description] =
    AREAS.find(([pattern, area]) =>
      /^(sandbox|payer)\//.test(below) ? /Sandbox|Payer hub/.test(area) && pattern.test(below) : pattern.test(below),
    ) ?? []
  if (name === undefined || description === undefined)
    throw new Error(`${path} belongs to no area of src/openapi/tags.ts`)
  return { name, description }
}
