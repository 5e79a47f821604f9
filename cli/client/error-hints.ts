import type { ErrorCode } from '../../src/lib/errors.ts'
import { slugOf } from '../../src/lib/realms.ts'
import type { Operation } from '../../src/wire/operation.ts'
import type { Chosen } from './auth/identity.ts'
import { CHECKOUT_HINTS, PAYER_LINK } from './checkout-hints.ts'
import { DISPUTE_HINTS } from './dispute-hints.ts'
import {
  isForCustomers,
  isForMerchant,
  isForOperators,
  isForPayers,
  membersOf,
  paramOf,
  textOr,
} from './error-context.ts'
import type { Hint, Told } from './error-context.ts'

/** A refusal in the words of the command line: the next step is a command, wherever one is known. */
export function wordsFor(told: Told): { message: string; hint: string | undefined } {
  const { who, operation, code, message, next } = told
  const { chosen } = who
  if (code === 'WRONG_REALM' && chosen !== undefined) return otherRealm(chosen, operation) ?? { message, hint: next }
  return { message: ownWords(told), hint: HINTS.get(code)?.(told) ?? next }
}

/** What the API names by its headers, whoever types flags has never seen. */
function ownWords({ code, operation, message }: Told): string {
  if (code === 'IDEMPOTENCY_KEY_REUSED' && isForCustomers(operation))
    return 'this idempotency key was used with another order'
  return message
}

const HINTS: ReadonlyMap<string, Hint> = new Map<ErrorCode, Hint>([
  ['UNAUTHENTICATED', notAccepted],
  ['TOKEN_EXPIRED', notAccepted],
  ['UNKNOWN_CLIENT', () => 'whether the client id is right, as an operator: svc merchants list'],
  ['WRONG_REALM', ({ operation }) => loginFor(operation)],
  ['FORBIDDEN_ROLE', otherRole],
  [
    'MERCHANT_NOT_APPROVED',
    (told) => `how it stands: svc whoami\nas an operator: svc kyb approve ${realmOf(told)} --reason "..."`,
  ],
  ['MERCHANT_INACTIVE', (told) => `as an operator: svc merchants enable ${realmOf(told)} --reason "..."`],
  ['PAYOUT_HELD', (told) => `as an operator: svc hold release ${realmOf(told)} --reason "..."`],
  ['USER_EXISTS', userExists],
  ['REALM_EXISTS', realmExists],
  ['REGISTRATION_UNDER_WAY', () => 'in a minute: svc merchants registrations'],
  ['LAST_ADMIN', () => 'to make another one first: svc team role <email> ADMIN'],
  ['LAST_OWNER', () => 'to make another one first: svc staff role <email> OWNER --reason "..."'],
  [
    'CREDENTIAL_LIMIT_REACHED',
    () => 'svc credentials list\nfor one that nothing uses: svc credentials revoke <client-id>',
  ],
  [
    'BANK_ACCOUNT_LIMIT_REACHED',
    () => 'svc bank-accounts list\nfor one that is not needed: svc bank-accounts disable <id>',
  ],
  ['BANK_ACCOUNT_NOT_FOUND', () => 'svc bank-accounts list'],
  [
    'CREDENTIAL_NOT_REVOCABLE',
    (told) => `to have the old secret refused at once: svc credentials rotate ${paramOf(told, 'id')}`,
  ],
  [
    'SECRET_OVERLAP_RUNNING',
    () => 'svc secret end-overlap\nwhere the new secret was lost: svc secret rotate --discard-current',
  ],
  ['KYB_TRANSITION_INVALID', (told) => `svc kyb show ${paramOf(told, 'id')}`],
  ['CHANGED_MEANWHILE', changedMeanwhile],
  ['IDEMPOTENCY_KEY_REUSED', () => 'another --idempotency-key'],
  ['BANK_UNAVAILABLE', () => 'the same command again in a few seconds, with the same --idempotency-key if it pays'],
  ['IDP_UNAVAILABLE', () => 'the same command again in a few seconds\nhow the service is: svc status'],
  ['HTTPS_REQUIRED', () => "the service's https:// address, and new secrets for those that were sent in clear"],
  ['MERCHANT_NOT_FOUND', () => 'svc merchants list'],
  ['REALM_NOT_FOUND', () => 'which realms there are: svc merchants list'],
  ['REGISTRATION_NOT_FOUND', () => 'svc merchants registrations'],
  ['TEAM_MEMBER_NOT_FOUND', () => 'svc team list'],
  ['STAFF_NOT_FOUND', () => 'svc staff list'],
  [
    'CREDENTIAL_NOT_FOUND',
    ({ operation }) => (isForMerchant(operation) ? 'svc credentials list' : 'svc staff clients'),
  ],
  [
    'RESOURCE_NOT_FOUND',
    ({ operation }) =>
      isForMerchant(operation)
        ? 'svc payments list\nsvc webhooks list\nsvc portal disputes list'
        : 'svc merchants list\nsvc outbox list\nsvc disputes list',
  ],
  ['MAIL_NOT_FOUND', () => 'svc mail list'],
  ['AUDIT_ENTRY_NOT_FOUND', () => 'svc audit list'],
  ['PAYMENT_NOT_FOUND', paymentsFor],
  ['STATE_MISMATCH', (told) => `how it stands: svc payments show ${paramOf(told, 'id')}`],
  ['PAYMENT_NOT_CANCELLABLE', notCancellable],
  ['REFUND_EXCEEDS_AVAILABLE', refundLeft],
  ['REFUND_AVAILABLE_MISMATCH', refundLeft],
  ['PAYMENT_NOT_SETTLED', (told) => `svc payments show ${paramOf(told, 'id')}`],
  ['DELIVERY_NOT_FOUND', ({ operation }) => (isForOperators(operation) ? 'svc outbox list' : 'svc webhooks list')],
  ['DELIVERY_NOT_DEAD', deliveryNotDead],
  ['WEBHOOK_ENDPOINT_NOT_SET', () => 'svc webhooks endpoint set <url>'],
  ['WEBHOOK_ENDPOINT_PAUSED', () => 'svc webhooks endpoint resume'],
  ['FORBIDDEN_SCOPE', () => 'svc login --customer'],
  ['ACCOUNT_NOT_FOUND', ({ operation }) => (isForCustomers(operation) ? 'svc ob accounts' : 'svc sandbox accounts')],
  ['ORDER_NOT_FOUND', () => 'the whole id, as svc ob pay told it'],
  ['RECURRING_PAYMENT_NOT_FOUND', () => 'svc ob recurring list'],
  ['RECURRING_PAYMENT_NOT_CANCELLABLE', (told) => `svc ob recurring show ${paramOf(told, 'RecurringPaymentId')}`],
  ['PAYMENT_REQUEST_NOT_FOUND', ({ operation }) => `${requestsOf(operation)} list`],
  ['PAYMENT_REQUEST_CLOSED', requestClosed],
  ...DISPUTE_HINTS,
  ...CHECKOUT_HINTS,
])

function paymentsFor({ operation }: Told): string | undefined {
  if (isForPayers(operation)) return 'svc payer payments list'
  return isForOperators(operation) ? 'svc merchants payments' : 'svc payments list'
}

/** Only what is settled has advice of the service's: to refund it. */
function notCancellable(told: Told): string {
  const id = paramOf(told, 'id')
  if (isForPayers(told.operation)) return `svc payer show ${id}`
  return told.next === undefined ? `svc payments show ${id}` : `svc payments refund ${id}`
}

/** What there is to look at again. */
function changedMeanwhile(told: Told): string {
  const id = paramOf(told, 'id')
  if (!told.operation.path.includes('/disputes/')) return `how it stands: svc merchants show ${id}`
  return `how it stands: svc ${isForOperators(told.operation) ? '' : 'portal '}disputes show ${id}`
}

/** What is left stands in the message alone. */
function refundLeft(told: Told): string {
  const id = paramOf(told, 'id')
  const [, left] = /(\d+(?:\.\d+)?) is left/.exec(told.message) ?? []
  return left === undefined ? `svc payments refunds ${id}` : `svc payments refund ${id} --amount ${left}`
}

function deliveryNotDead(told: Told): string {
  if (isForOperators(told.operation)) return `svc outbox list --merchant ${paramOf(told, 'id')} --status DEAD`
  return `svc webhooks show ${paramOf(told, 'id')}`
}

function requestsOf({ path }: Operation): string {
  return path.includes('/offer-to-pay') ? 'svc ob offer-to-pay' : 'svc ob request-to-pay'
}

function requestClosed(told: Told): string {
  const id = told.operation.path.includes('/offer-to-pay') ? 'OfferToPayId' : 'RequestToPayId'
  return `${requestsOf(told.operation)} show ${paramOf(told, id)}`
}

function loginFor(operation: Operation): string {
  if (isForPayers(operation)) return PAYER_LINK
  if (isForCustomers(operation)) return 'svc login --customer'
  return isForMerchant(operation) ? 'svc login --realm <realm>' : 'svc login --platform'
}

/** Why nobody believes what proves the caller depends on where it came from. */
function notAccepted({ who, operation }: Told): string {
  const { chosen } = who
  // Whoever else is signed in has no part in what a payer asks.
  if (isForPayers(operation)) return loginFor(operation)
  if (isForCustomers(operation) && isNamed(who)) return otherCustomer(chosen)
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
function isNamed({ customer, chosen }: Told['who']): boolean {
  return chosen?.by !== 'SVC_TOKEN' && customer !== undefined && customer.clientId === undefined
}

/** The name is none of a customer's; or there is somebody to sign in with after all, where nothing has said so. */
function otherCustomer(chosen: Chosen | undefined): string {
  const list = 'which customers there are: svc sandbox accounts'
  return chosen === undefined ? `${list}\nwith an identity provider: svc login --customer` : list
}

/** The identity is of the wrong kind: what chose it has to choose another. */
function otherRealm({ by, name }: Chosen, operation: Operation): { message: string; hint: string } | undefined {
  const needed = isForCustomers(operation) ? 'a customer' : isForMerchant(operation) ? 'a merchant' : 'an operator'
  const who = name ?? 'whom it names'
  if (by === 'dev' || by === 'profile') return undefined
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

function otherRole({ who, operation }: Told): string {
  const allowed = 'what your role allows: svc whoami'
  if (isForMerchant(operation)) {
    return isClient(who)
      ? `${allowed}\nas an ADMIN, another client: svc credentials create --name <name> --role <role>`
      : `${allowed}\nas an ADMIN: svc team role <email> <role>`
  }
  return isClient(who)
    ? `${allowed}\nas an OWNER, another client: svc staff create-client --name <name> --role <role> --reason "..."`
    : `${allowed}\nas an OWNER: svc staff role <email> <role> --reason "..."`
}

/** Whether a program is refused, which has no e-mail address: its role is that of its client, and stays. */
function isClient({ chosen }: Told['who']): boolean {
  return chosen?.by === '--client-id' || chosen?.by === 'SVC_CLIENT_ID'
}

function userExists({ operation, input }: Told): string | undefined {
  const noun = { inviteTeamMember: 'team', addStaff: 'staff' }[operation.name]
  if (noun === undefined) return undefined
  const { email, role } = membersOf(input.body)
  const why = noun === 'staff' ? ' --reason "..."' : ''
  return `svc ${noun} role ${textOr(email, '<email>')} ${textOr(role, '<role>')}${why}\na forgotten password: the sign-in page makes it anew`
}

function realmExists({ input }: Told): string {
  const slug = slugOf(textOr(membersOf(input.body)['company_name'], ''))
  return `another --company\nif this company is yours: svc login --realm ${slug ?? '<realm>'}`
}

/** How an operator names the merchant that the caller acts for. */
function realmOf({ who }: Told): string {
  const { merchant } = who
  return merchant?.realm ?? merchant?.clientId ?? '<realm>'
}
