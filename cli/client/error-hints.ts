import type { ErrorCode } from '../../src/lib/errors.ts'
import type { Operation, Access, OperationInput } from '../../src/wire/operation.ts'
import type { Chosen, Identity } from './auth/credentials.ts'

export function hintFor(failed: FailedCall): string | undefined {
  const hint = HINTS.get(failed.code)
  return (hint === undefined ? undefined : hintText(hint, failed)) ?? failed.next
}

/** Without a known payer: the address of the examples. */
export const PAYER_LINK = 'with your own address: svc payer link ada@example.org'

const NEW_TOKEN = 'a new one: svc checkout token --amount 50.00 --currency GBP'
const REFUND_LEFT = 'svc payments refund <id> --amount <available>'
const AGAIN = 'the same command again in a few seconds'

const IDENTITY: Partial<Record<ErrorCode, Hint>> = {
  UNAUTHENTICATED: notAccepted,
  TOKEN_EXPIRED: notAccepted,
  INSUFFICIENT_USER_AUTHENTICATION: 'svc login --second-factor\nthen the same command again',
  UNKNOWN_CLIENT: 'whether the client id is right, as an operator: svc merchants list',
  WRONG_REALM: otherRealm,
  FORBIDDEN_ROLE: otherRole,
  FORBIDDEN_SCOPE: 'svc login --customer',
  HTTPS_REQUIRED: "the service's https:// address, and new secrets for those that were sent in clear",
  IDP_UNAVAILABLE: `${AGAIN}\nhow the service is: svc status`,
  LINK_INVALID: PAYER_LINK,
}

const MERCHANTS: Partial<Record<ErrorCode, Hint>> = {
  MERCHANT_NOT_APPROVED: 'to see the status: svc whoami\nas an operator: svc kyb approve <merchant> --reason "..."',
  MERCHANT_INACTIVE: 'as an operator: svc merchants enable <merchant> --reason "..."',
  PAYOUT_HELD: 'as an operator: svc hold release <merchant> --reason "..."',
  MERCHANT_NOT_FOUND: 'svc merchants list',
  REALM_NOT_FOUND: 'which realms there are: svc merchants list',
  REALM_EXISTS: 'another --company\nif this company is yours: svc login --realm <realm>',
  REGISTRATION_UNDER_WAY: 'in a minute: svc merchants registrations',
  REGISTRATION_NOT_FOUND: 'svc merchants registrations',
  KYB_TRANSITION_INVALID: 'svc kyb show <id>',
  CHANGED_MEANWHILE: ({ operation: { path } }) =>
    `to see the status: svc ${path.includes('/disputes/') ? 'disputes' : 'merchants'} show <id>`,
  AUDIT_ENTRY_NOT_FOUND: 'svc audit list',
  MAIL_NOT_FOUND: 'svc sandbox mail list',
}

const PEOPLE: Partial<Record<ErrorCode, Hint>> = {
  USER_EXISTS: ({ operation: { name } }) => {
    if (name === 'addStaff') return 'svc staff role <email> <role> --reason "..."'
    return name === 'inviteTeamMember' ? 'svc team role <email> <role>' : undefined
  },
  LAST_ADMIN: 'to make another one first: svc team role <email> ADMIN',
  LAST_OWNER: 'to make another one first: svc staff role <email> OWNER --reason "..."',
  TEAM_MEMBER_NOT_FOUND: 'svc team list',
  STAFF_NOT_FOUND: 'svc staff list',
  CREDENTIAL_NOT_FOUND: { merchant: 'svc credentials list', any: 'svc credentials list --platform' },
  TEAM_LIMIT_REACHED: 'svc team list\nfor one who no longer needs access: svc team remove <email>',
  CREDENTIAL_LIMIT_REACHED: 'svc credentials list\nfor one that nothing uses: svc credentials revoke <client-id>',
  CREDENTIAL_NOT_REVOCABLE: 'to reject the old secret at once: svc credentials rotate <id>',
  BANK_ACCOUNT_NOT_FOUND: 'svc payouts accounts list',
  BANK_ACCOUNT_LIMIT_REACHED:
    'svc payouts accounts list\nfor one that is not needed: svc payouts accounts disable <id>',
}

const PAYMENTS: Partial<Record<ErrorCode, Hint>> = {
  RESOURCE_NOT_FOUND: {
    merchant: 'svc payments list\nsvc webhooks list\nsvc disputes list',
    any: 'svc merchants list\nsvc webhooks list --all-merchants\nsvc disputes list',
  },
  PAYMENT_NOT_FOUND: {
    payer: 'svc payer payments list',
    platform: 'svc payments list --all-merchants',
    any: 'svc payments list',
  },
  UNSUPPORTED_CURRENCY: 'a currency that the merchant takes, by its three letters: --currency GBP',
  STATE_MISMATCH: 'to see the status: svc payments show <id>',
  PAYMENT_NOT_CANCELLABLE: ({ nextStep }) => `svc payments ${nextStep === 'refundPayment' ? 'refund' : 'show'} <id>`,
  PAYMENT_NOT_SETTLED: { payer: 'svc payer show <id>', any: 'svc payments show <id>' },
  EMAIL_NOT_CONFIRMED: PAYER_LINK,
  REFUND_EXCEEDS_AVAILABLE: REFUND_LEFT,
  REFUND_AVAILABLE_MISMATCH: REFUND_LEFT,
  IDEMPOTENCY_KEY_REUSED: 'another --idempotency-key',
  BANK_UNAVAILABLE: `${AGAIN}, with the same --idempotency-key if it pays`,
  BANK_NOT_FOUND: 'svc banks list',
  BANK_ALREADY_REGISTERED: 'to register again: svc banks connect <bank> --replace',
  BANK_REGISTRATION_REFUSED: 'which step fails: svc banks test <bank>',
  SOFTWARE_STATEMENT_MISSING: 'svc banks software-statement set --file software-statement.json --reason "..."',
  BANK_NOT_CONFIGURED: 'which settings are missing: svc doctor --only service',
}

const CHECKOUT: Partial<Record<ErrorCode, Hint>> = {
  CHECKOUT_TOKEN_INVALID: 'svc checkout token --decode - < token.txt',
  CHECKOUT_TOKEN_EXPIRED: NEW_TOKEN,
  CHECKOUT_ORIGIN_NOT_ALLOWED:
    'which pages may show it: svc checkout origins list\nto allow one more: svc checkout origins add https://shop.example',
  CHECKOUT_ALREADY_PAID: 'svc payments list',
  CHECKOUT_ATTEMPTS_USED: NEW_TOKEN,
  CONSENT_NOT_FOUND: { payer: 'svc payments mandates list --as-payer', any: 'svc payments mandates list' },
  CONSENT_NOT_REVOCABLE: {
    payer: 'svc payments mandates list --as-payer',
    any: 'to see the status: svc payments mandates show <id>',
  },
  MANDATE_NOT_USABLE: 'svc payments mandates show <consent_id>',
  MANDATE_LIMIT_EXCEEDED: 'svc payments mandates show <consent_id>',
}

const DISPUTES: Partial<Record<ErrorCode, Hint>> = {
  DISPUTE_NOT_FOUND: 'svc disputes list',
  DISPUTE_CLOSED: 'how it ended: svc disputes show <id>',
  DISPUTE_ALREADY_OPEN: {
    payer: 'svc payer show <id>',
    platform: 'svc disputes list --payment <id> --all-merchants',
    any: 'svc disputes list --payment <id>',
  },
  DISPUTE_NOT_UNDER_REVIEW:
    'until when the merchant may answer: svc disputes show <id>\nwithout waiting for that: svc disputes escalate <id> --reason "..."',
  DISPUTE_ESCALATED: {
    platform: 'as an OWNER: svc disputes resolve <id> --favour <side> --note "..."',
    any: 'the platform decides it now: svc disputes show <id>',
  },
  PAYMENT_NOT_DISPUTABLE: {
    platform: 'svc explain <id> --platform',
    payer: 'svc payer show <id>',
    any: 'svc payments show <id>',
  },
  // A refund is one part of what was asked for here.
  PAYMENT_ALREADY_REFUNDED: ({ operation: { name } }) =>
    name === 'resolveDispute' || name === 'acceptDispute'
      ? 'the same command without --refund'
      : 'svc payments refunds <id>',
}

const WEBHOOKS: Partial<Record<ErrorCode, Hint>> = {
  DELIVERY_NOT_FOUND: { platform: 'svc webhooks list --all-merchants', any: 'svc webhooks list' },
  DELIVERY_NOT_DEAD: {
    platform: 'svc webhooks list --merchant <id> --status DEAD',
    any: 'svc webhooks show <id>',
  },
  WEBHOOK_ENDPOINT_NOT_SET: 'svc webhooks endpoint set <url>',
  WEBHOOK_ENDPOINT_PAUSED: 'svc webhooks endpoint resume',
  SECRET_OVERLAP_RUNNING: 'svc secret end-overlap\nwhere the new secret was lost: svc secret rotate --discard-current',
}

const OPEN_BANKING: Partial<Record<ErrorCode, Hint>> = {
  ACCOUNT_NOT_FOUND: { customer: 'svc ob accounts', any: 'svc sandbox accounts' },
  ORDER_NOT_FOUND: 'the whole id, as svc ob pay printed it',
  PAYOUT_NOT_FOUND: { platform: 'svc payouts list --all-merchants', any: 'svc payouts list' },
  PAYOUT_NOT_RETRYABLE: 'to see the status: svc payouts show <id>',
  PAYOUT_NOT_FAILABLE: ({ next }) => next ?? 'to see the status: svc payouts show <id>',
  STATEMENT_LINE_NOT_FOUND: 'svc statements lines',
  REFUND_NOT_FOUND: 'refunds that no statement has: svc statements missing',
  REFUND_NOT_FAILABLE: 'to see the status: svc explain <id>',
  PAYMENT_NOT_RESOLVABLE: ({ next }) => next ?? 'to see the status: svc explain <id>',
  REFUND_NOT_CREDITABLE: 'refunds that came back: svc inbox',
  SETTLEMENT_NOT_FOUND: 'svc settlements list',
  RECURRING_PAYMENT_NOT_FOUND: 'svc ob recurring list',
  RECURRING_PAYMENT_NOT_CANCELLABLE: 'svc ob recurring show <RecurringPaymentId>',
  PAYMENT_REQUEST_NOT_FOUND: ({ operation: { path } }) =>
    path.includes('/offer-to-pay') ? 'svc ob offer-to-pay list' : 'svc ob request-to-pay list',
  PAYMENT_REQUEST_CLOSED: ({ operation: { path } }) =>
    path.includes('/offer-to-pay')
      ? 'svc ob offer-to-pay show <OfferToPayId>'
      : 'svc ob request-to-pay show <RequestToPayId>',
}

const HINTS: ReadonlyMap<string, Hint> = new Map(
  [IDENTITY, MERCHANTS, PEOPLE, PAYMENTS, CHECKOUT, DISPUTES, WEBHOOKS, OPEN_BANKING].flatMap(Object.entries<Hint>),
)

export type FailedCall = {
  who: { merchant: Identity | undefined; customer?: Identity | undefined; chosen?: Chosen | undefined }
  operation: Operation
  input: OperationInput<Operation>
  code: string
  /** The API's own advice, which is written for HTTP. */
  next?: string | undefined
  nextStep?: string | undefined
  available?: string | undefined
}

/** Texts by the kind of caller that the operation is for: the first that fits. */
type ByAccess = Partial<Record<Access, string>> & { any: string }

/**
 * The next step after an error. In it `<id>` is what the request's path or body has by that name, `<available>` the amount
 * that is still possible and `<merchant>` the caller; undefined where the API's own advice is the best there is.
 */
type Hint = string | ByAccess | ((failed: FailedCall) => string | undefined)

function hintText(hint: Hint, failed: FailedCall): string | undefined {
  const { input, available, who, operation } = failed
  const text = typeof hint === 'string' ? hint : typeof hint === 'function' ? hint(failed) : byAccess(hint, operation)
  const merchant = who.merchant?.realm ?? who.merchant?.clientId
  const known = { ...membersOf(input.body), available, merchant, ...membersOf(input.params) }
  return text?.replaceAll(/<(\w+)>/g, (placeholder, name: string) => textOr(membersOf(known)[name], placeholder))
}

function byAccess(hint: ByAccess, { access }: Operation): string {
  const fitting = Object.entries(hint).find(([kind]) => access.some((each) => each === kind))
  return fitting?.[1] ?? hint.any
}

export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(Object(value)))
}

export function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}

function loginFor({ access }: Operation): string {
  if (access.includes('payer')) return PAYER_LINK
  if (access.includes('customer')) return 'svc login --customer'
  return access.includes('merchant') ? 'svc login --realm <realm>' : 'svc login --platform'
}

/** Why credentials are not accepted depends on where they came from. */
function notAccepted({ who: { chosen, customer }, operation }: FailedCall): string {
  const { access } = operation
  const login = loginFor(operation)
  // Only a payer's session counts here, also where another identity is signed in.
  if (access.includes('payer')) return login
  // A customer given by name, as without an identity provider.
  if (access.includes('customer') && chosen?.by !== 'SVC_TOKEN' && customer !== undefined && !customer.clientId)
    return `which customers there are: svc sandbox accounts\nwith an identity provider: ${login}`
  if (chosen?.by === 'SVC_TOKEN') return 'a new token in SVC_TOKEN, which svc profile token prints; or unset SVC_TOKEN'
  if (isClient(chosen))
    return `check ${chosen?.by} and SVC_CLIENT_SECRET, the secret of ${chosen?.name}; people sign in with ${login}`
  return chosen?.by === 'profile' ? `svc login --profile ${chosen.name}` : login
}

function isClient(chosen: Chosen | undefined): boolean {
  return chosen?.by === '--client-id' || chosen?.by === 'SVC_CLIENT_ID'
}

/** The identity is of the wrong kind: what chose it has to choose another. */
function otherRealm({ who: { chosen }, operation }: FailedCall): string {
  const login = loginFor(operation)
  if (chosen === undefined || chosen.by === 'dev' || chosen.by === 'profile') return login
  if (chosen.by === '--client-id') return `the same command without --client-id, or ${login}`
  return `unset ${chosen.by}, which selects ${chosen.name ?? 'another identity'}; then ${login}`
}

/** A program has no e-mail address: its role is that of its client, and stays. */
function otherRole({ who: { chosen }, operation: { access } }: FailedCall): string {
  const own = 'what your role allows: svc whoami'
  const isMerchants = access.includes('merchant')
  if (isClient(chosen))
    return `${own}\nanother client: svc credentials create ${isMerchants ? '' : '--platform '}--name <a-name> --role <a-role>`
  if (isMerchants) return `${own}\nas an ADMIN: svc team role <your-email> <a-role>`
  return `${own}\nas an OWNER: svc staff role <your-email> <a-role> --reason "..."`
}
