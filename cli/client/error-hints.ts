import type { ErrorCode } from '../../src/lib/errors.ts'
import { slugOf } from '../../src/lib/realms.ts'
import type { Operation, Access, OperationInput } from '../../src/wire/operation.ts'
import type { Chosen, Identity } from './auth/credentials.ts'

/** An error in the words of the command line: the next step is a command, wherever one is known. */
export function wordsFor(failed: FailedCall): { message: string; hint: string | undefined } {
  const { who, operation, code, message, next } = failed
  const { chosen } = who
  if (code === 'WRONG_REALM' && chosen !== undefined) return otherRealm(chosen, operation) ?? { message, hint: next }
  const hint = HINTS.get(code)
  return { message: ownWords(failed), hint: (hint === undefined ? undefined : hintText(hint, failed)) ?? next }
}

/** What the API names by its headers, whoever types flags has never seen. */
function ownWords({ code, operation, message }: FailedCall): string {
  if (code === 'IDEMPOTENCY_KEY_REUSED' && operation.access.includes('customer'))
    return 'this idempotency key was used with another order'
  return message
}

/** Where nobody has said who pays: the address of the examples. */
export const PAYER_LINK = 'with your own address: svc payer link ada@example.org'

const NEW_TOKEN = 'a new one: svc checkout token --amount 50.00 --currency GBP'
const AGAIN = 'the same command again in a few seconds'

const IDENTITY: Partial<Record<ErrorCode, Hint>> = {
  UNAUTHENTICATED: notAccepted,
  TOKEN_EXPIRED: notAccepted,
  UNKNOWN_CLIENT: 'whether the client id is right, as an operator: svc merchants list',
  WRONG_REALM: ({ operation }) => loginFor(operation),
  FORBIDDEN_ROLE: otherRole,
  FORBIDDEN_SCOPE: 'svc login --customer',
  HTTPS_REQUIRED: "the service's https:// address, and new secrets for those that were sent in clear",
  IDP_UNAVAILABLE: `${AGAIN}\nhow the service is: svc status`,
  LINK_INVALID: PAYER_LINK,
}

const MERCHANTS: Partial<Record<ErrorCode, Hint>> = {
  MERCHANT_NOT_APPROVED: 'how it stands: svc whoami\nas an operator: svc kyb approve <merchant> --reason "..."',
  MERCHANT_INACTIVE: 'as an operator: svc merchants enable <merchant> --reason "..."',
  PAYOUT_HELD: 'as an operator: svc hold release <merchant> --reason "..."',
  MERCHANT_NOT_FOUND: 'svc merchants list',
  REALM_NOT_FOUND: 'which realms there are: svc merchants list',
  REALM_EXISTS: realmExists,
  REGISTRATION_UNDER_WAY: 'in a minute: svc merchants registrations',
  REGISTRATION_NOT_FOUND: 'svc merchants registrations',
  KYB_TRANSITION_INVALID: 'svc kyb show <id>',
  CHANGED_MEANWHILE: changedMeanwhile,
  AUDIT_ENTRY_NOT_FOUND: 'svc audit list',
  MAIL_NOT_FOUND: 'svc mail list',
}

const PEOPLE: Partial<Record<ErrorCode, Hint>> = {
  USER_EXISTS: userExists,
  LAST_ADMIN: 'to make another one first: svc team role <email> ADMIN',
  LAST_OWNER: 'to make another one first: svc staff role <email> OWNER --reason "..."',
  TEAM_MEMBER_NOT_FOUND: 'svc team list',
  STAFF_NOT_FOUND: 'svc staff list',
  CREDENTIAL_NOT_FOUND: { merchant: 'svc credentials list', any: 'svc credentials list --platform' },
  CREDENTIAL_LIMIT_REACHED: 'svc credentials list\nfor one that nothing uses: svc credentials revoke <client-id>',
  CREDENTIAL_NOT_REVOCABLE: 'to have the old secret refused at once: svc credentials rotate <id>',
  BANK_ACCOUNT_NOT_FOUND: 'svc bank-accounts list',
  BANK_ACCOUNT_LIMIT_REACHED: 'svc bank-accounts list\nfor one that is not needed: svc bank-accounts disable <id>',
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
  STATE_MISMATCH: 'how it stands: svc payments show <id>',
  PAYMENT_NOT_CANCELLABLE: notCancellable,
  PAYMENT_NOT_SETTLED: 'svc payments show <id>',
  REFUND_EXCEEDS_AVAILABLE: refundLeft,
  REFUND_AVAILABLE_MISMATCH: refundLeft,
  IDEMPOTENCY_KEY_REUSED: 'another --idempotency-key',
  BANK_UNAVAILABLE: `${AGAIN}, with the same --idempotency-key if it pays`,
}

const CHECKOUT: Partial<Record<ErrorCode, Hint>> = {
  CHECKOUT_TOKEN_INVALID: 'svc checkout token --decode - < token.txt',
  CHECKOUT_TOKEN_EXPIRED: NEW_TOKEN,
  CHECKOUT_ORIGIN_NOT_ALLOWED:
    'which pages may show it: svc checkout origins list\nto allow one more: svc checkout origins add https://shop.example',
  CHECKOUT_ALREADY_PAID: 'svc payments list',
  CHECKOUT_ATTEMPTS_USED: NEW_TOKEN,
  CONSENT_NOT_FOUND: { payer: 'svc mandates list --as-payer', any: 'svc mandates list' },
  CONSENT_NOT_REVOCABLE: { payer: 'svc mandates list --as-payer', any: 'how it stands: svc mandates show <id>' },
  MANDATE_NOT_USABLE: mandateOf,
  MANDATE_LIMIT_EXCEEDED: mandateOf,
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
  ORDER_NOT_FOUND: 'the whole id, as svc ob pay told it',
  RECURRING_PAYMENT_NOT_FOUND: 'svc ob recurring list',
  RECURRING_PAYMENT_NOT_CANCELLABLE: 'svc ob recurring show <RecurringPaymentId>',
  PAYMENT_REQUEST_NOT_FOUND: ({ operation }) =>
    isOffer(operation) ? 'svc ob offer-to-pay list' : 'svc ob request-to-pay list',
  PAYMENT_REQUEST_CLOSED: ({ operation }) =>
    isOffer(operation) ? 'svc ob offer-to-pay show <OfferToPayId>' : 'svc ob request-to-pay show <RequestToPayId>',
}

const HINTS: ReadonlyMap<string, Hint> = new Map(
  [IDENTITY, MERCHANTS, PEOPLE, PAYMENTS, CHECKOUT, DISPUTES, WEBHOOKS, OPEN_BANKING].flatMap(Object.entries<Hint>),
)

function realmExists({ input }: FailedCall): string {
  const slug = slugOf(textOr(membersOf(input.body)['company_name'], ''))
  return `another --company\nif this company is yours: svc login --realm ${slug ?? '<realm>'}`
}

/** What there is to look at again. */
function changedMeanwhile({ operation: { path } }: FailedCall): string {
  if (!path.includes('/disputes/')) return 'how it stands: svc merchants show <id>'
  return 'how it stands: svc disputes show <id>'
}

function userExists({ operation, input }: FailedCall): string | undefined {
  const noun = { inviteTeamMember: 'team', addStaff: 'staff' }[operation.name]
  if (noun === undefined) return undefined
  const { email, role } = membersOf(input.body)
  const why = noun === 'staff' ? ' --reason "..."' : ''
  return `svc ${noun} role ${textOr(email, '<email>')} ${textOr(role, '<role>')}${why}\na forgotten password: the sign-in page makes it anew`
}

/** What is settled can be refunded instead. */
function notCancellable({ nextStep }: FailedCall): string {
  return nextStep === 'refundPayment' ? 'svc payments refund <id>' : 'svc payments show <id>'
}

function refundLeft({ available }: FailedCall): string {
  return available === undefined ? 'svc payments refunds <id>' : `svc payments refund <id> --amount ${available}`
}

/** What is left of a mandate is told there. */
function mandateOf({ input }: FailedCall): string {
  return `svc mandates show ${textOr(membersOf(input.body)['consent_id'], '<mandate>')}`
}

function isOffer({ path }: Operation): boolean {
  return path.includes('/offer-to-pay')
}

/** An error of the API, with what was called and by whom. */
export type FailedCall = {
  who: { merchant: Identity | undefined; customer?: Identity | undefined; chosen?: Chosen | undefined }
  operation: Operation
  input: OperationInput<Operation>
  code: string
  message: string
  /** The API's own advice, which is written for HTTP. */
  next: string | undefined
  /** The same as the name of an operation. */
  nextStep?: string | undefined
  /** The amount that is still possible. */
  available?: string | undefined
}

/** Texts by the kind of caller that the operation is for: the first that fits. */
type ByAccess = Partial<Record<Access, string>> & { any: string }

/**
 * The next step after an error, in which `<id>` is that of the request's path, and `<merchant>` the caller's; undefined
 * where the API's own advice is the best there is.
 */
type Hint = string | ByAccess | ((failed: FailedCall) => string | undefined)

function hintText(hint: Hint, failed: FailedCall): string | undefined {
  const text =
    typeof hint === 'string' ? hint : typeof hint === 'function' ? hint(failed) : byAccess(hint, failed.operation)
  return text?.replaceAll(/<(\w+)>/g, (placeholder, name: string) =>
    name === 'merchant' ? merchantOf(failed) : textOr(membersOf(failed.input.params)[name], placeholder),
  )
}

function byAccess(hint: ByAccess, { access }: Operation): string {
  const fitting = Object.entries(hint).find(([kind]) => access.some((each) => each === kind))
  return fitting?.[1] ?? hint.any
}

/** How an operator names the merchant that the caller acts for. */
function merchantOf({ who: { merchant } }: FailedCall): string {
  return merchant?.realm ?? merchant?.clientId ?? '<realm>'
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

/** Why nobody believes what proves the caller depends on where it came from. */
function notAccepted({ who, operation }: FailedCall): string {
  const { chosen } = who
  // Whoever else is signed in has no part in what a payer asks.
  if (operation.access.includes('payer')) return PAYER_LINK
  if (operation.access.includes('customer') && isNamed(who)) return otherCustomer(chosen)
  switch (chosen?.by) {
    case 'SVC_TOKEN':
      return 'a new token in SVC_TOKEN, which svc token prints; or unset SVC_TOKEN'
    case 'SVC_CLIENT_ID':
    case '--client-id':
      return `check ${chosen.by} and SVC_CLIENT_SECRET, the secret of ${chosen.name ?? 'the client'}; people sign in with ${loginFor(operation)}`
    case 'profile':
      return `svc login --profile ${chosen.name ?? ''}`
    default:
      return loginFor(operation)
  }
}

/** Whether the customer was given by name, as where nobody has to prove anything. */
function isNamed({ customer, chosen }: FailedCall['who']): boolean {
  return chosen?.by !== 'SVC_TOKEN' && customer !== undefined && customer.clientId === undefined
}

/** The name is none of a customer's; or there is somebody to sign in with after all, where nothing has said so. */
function otherCustomer(chosen: Chosen | undefined): string {
  const list = 'which customers there are: svc sandbox accounts'
  return chosen === undefined ? `${list}\nwith an identity provider: svc login --customer` : list
}

/** The identity is of the wrong kind: what chose it has to choose another. */
function otherRealm({ by, name }: Chosen, operation: Operation): { message: string; hint: string } | undefined {
  if (by === 'dev' || by === 'profile') return undefined
  const { access } = operation
  const needed = access.includes('customer') ? 'a customer' : access.includes('merchant') ? 'a merchant' : 'an operator'
  const who = name ?? 'whom it names'
  if (by === '--client-id')
    return {
      message: `--client-id says that you act as ${who}; this needs ${needed}`,
      hint: `the same command without --client-id, or ${loginFor(operation)}`,
    }
  return {
    message: `${by} is set: you act as ${who}; this needs ${needed}`,
    hint: `unset ${by}; where ${needed} is not signed in then, ${loginFor(operation)}`,
  }
}

/** A program has no e-mail address: its role is that of its client, and stays. */
function otherRole({ who: { chosen }, operation }: FailedCall): string {
  const isClient = chosen?.by === '--client-id' || chosen?.by === 'SVC_CLIENT_ID'
  const way = operation.access.includes('merchant')
    ? isClient
      ? 'as an ADMIN, another client: svc credentials create --name <name> --role <role>'
      : 'as an ADMIN: svc team role <email> <role>'
    : isClient
      ? 'as an OWNER, another client: svc credentials create --platform --name <name> --role <role> --reason "..."'
      : 'as an OWNER: svc staff role <email> <role> --reason "..."'
  return `what your role allows: svc whoami\n${way}`
}
