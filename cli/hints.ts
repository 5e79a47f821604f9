import type { ErrorCode } from '../src/lib/errors.ts'
import { slugOf } from '../src/lib/realms.ts'
import type { Operation, OperationInput } from '../src/wire/operation.ts'
import type { Chosen, Identity } from './auth/chosen.ts'

/** A refusal as the API tells it, and what was asked by whom. */
export type Told = {
  who: { merchant: Identity | undefined; chosen?: Chosen | undefined }
  operation: Operation
  input: OperationInput<Operation>
  code: string
  message: string
  /** The API's own advice, which is written for HTTP. */
  next: string | undefined
}

/** A refusal in the words of the command line: the next step is a command, wherever one is known. */
export function wordsFor(told: Told): { message: string; hint: string | undefined } {
  const { who, operation, code, message, next } = told
  const { chosen } = who
  if (code === 'WRONG_REALM' && chosen !== undefined) return otherRealm(chosen, operation) ?? { message, hint: next }
  return { message, hint: HINTS.get(code)?.(told) ?? next }
}

type Hint = (told: Told) => string | undefined

const HINTS: ReadonlyMap<string, Hint> = new Map<ErrorCode, Hint>([
  ['UNAUTHENTICATED', notAccepted],
  ['TOKEN_EXPIRED', notAccepted],
  ['UNKNOWN_CLIENT', () => 'is the client id right? svc merchants list names them to operators'],
  ['WRONG_REALM', ({ operation }) => loginFor(operation)],
  ['FORBIDDEN_ROLE', otherRole],
  [
    'MERCHANT_NOT_APPROVED',
    (told) => `as an operator: svc kyb approve ${realmOf(told)} --reason "..."; svc whoami tells how it stands`,
  ],
  ['MERCHANT_INACTIVE', (told) => `as an operator: svc merchants enable ${realmOf(told)} --reason "..."`],
  ['PAYOUT_HELD', (told) => `as an operator: svc hold release ${realmOf(told)} --reason "..."`],
  ['USER_EXISTS', userExists],
  ['REALM_EXISTS', realmExists],
  ['REGISTRATION_UNDER_WAY', () => 'svc merchants registrations, in a minute'],
  ['LAST_ADMIN', () => 'svc team role <email> ADMIN makes another one first'],
  ['LAST_OWNER', () => 'svc staff role <email> OWNER --reason "..." makes another one first'],
  ['CREDENTIAL_LIMIT_REACHED', () => 'svc credentials list, and svc credentials revoke for one that nothing uses'],
  [
    'CREDENTIAL_NOT_REVOCABLE',
    (told) => `svc credentials rotate ${paramOf(told, 'id')}: the old secret is refused at once`,
  ],
  ['KYB_TRANSITION_INVALID', (told) => `svc kyb show ${paramOf(told, 'id')}`],
  ['IDEMPOTENCY_KEY_REUSED', () => 'another --idempotency-key'],
  ['BANK_UNAVAILABLE', () => 'the same command again in a few seconds, with the same --idempotency-key if it pays'],
  ['IDP_UNAVAILABLE', () => 'the same command again in a few seconds; svc status'],
  ['HTTPS_REQUIRED', () => "the service's https:// address, and new secrets for those that were sent in clear"],
  ['MERCHANT_NOT_FOUND', () => 'svc merchants list'],
  ['REALM_NOT_FOUND', () => 'svc merchants list names the realms'],
  ['REGISTRATION_NOT_FOUND', () => 'svc merchants registrations'],
  ['TEAM_MEMBER_NOT_FOUND', () => 'svc team list'],
  ['STAFF_NOT_FOUND', () => 'svc staff list'],
  [
    'CREDENTIAL_NOT_FOUND',
    ({ operation }) => (isForMerchant(operation) ? 'svc credentials list' : 'svc staff clients'),
  ],
  ['MAIL_NOT_FOUND', () => 'svc mail list'],
  ['PAYMENT_NOT_FOUND', ({ operation }) => (isForMerchant(operation) ? 'svc payments list' : undefined)],
  ['DELIVERY_NOT_FOUND', () => 'svc webhooks list'],
])

function isForMerchant({ access }: Operation): boolean {
  return access.includes('merchant')
}

function loginFor(operation: Operation): string {
  return isForMerchant(operation) ? 'svc login --realm <realm>' : 'svc login --platform'
}

/** Why nobody believes what proves the caller depends on where it came from. */
function notAccepted({ who, operation }: Told): string {
  const { chosen } = who
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

/** The identity is of the wrong kind: what chose it has to choose another. */
function otherRealm({ by, name }: Chosen, operation: Operation): { message: string; hint: string } | undefined {
  const needed = isForMerchant(operation) ? 'a merchant' : 'an operator'
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

function otherRole({ operation }: Told): string {
  const [who, command] = isForMerchant(operation) ? ['an ADMIN', 'svc team role'] : ['an OWNER', 'svc staff role']
  return `svc whoami tells what your role allows; ${who} changes it with ${command} <email> <role>`
}

function userExists({ operation, input }: Told): string | undefined {
  const noun = { inviteTeamMember: 'team', addStaff: 'staff' }[operation.name]
  if (noun === undefined) return undefined
  const { email, role } = membersOf(input.body)
  const why = noun === 'staff' ? ' --reason "..."' : ''
  return `svc ${noun} role ${textOr(email, '<email>')} ${textOr(role, '<role>')}${why}; a forgotten password is made anew on the sign-in page`
}

function realmExists({ input }: Told): string {
  const slug = slugOf(textOr(membersOf(input.body)['company_name'], ''))
  return `another --company; if this company is yours, svc login --realm ${slug ?? '<realm>'}`
}

/** How an operator names the merchant that the caller acts for. */
function realmOf({ who }: Told): string {
  const { merchant } = who
  return merchant?.realm ?? merchant?.clientId ?? '<realm>'
}

function paramOf({ input }: Told, name: string): string {
  return textOr(membersOf(input.params)[name], `<${name}>`)
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(Object(value)))
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}
