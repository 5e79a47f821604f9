import type { ErrorCode } from '../../src/lib/errors.ts'
import { slugOf } from '../../src/lib/realms.ts'
import type { Operation } from '../../src/wire/operation.ts'
import { hintText, membersOf, textOr } from './error-context.ts'
import type { FailedCall, Hint } from './error-context.ts'
import { PAYER_LINK, loginFor, notAccepted, otherRealm, otherRole } from './identity-hints.ts'

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
