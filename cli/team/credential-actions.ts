import { PlatformRole, createStaffClient, revokeStaffClient } from '../../src/wire/staff.ts'
import { MerchantRole, createApiCredential, revokeApiCredential, rotateApiCredential } from '../../src/wire/team.ts'
import { quoted } from '../base/command-hints.ts'
import { usageError } from '../base/errors.ts'
import { roleText } from '../base/role-text.ts'
import { shortTime } from '../base/text.ts'
import { action, wordSubject } from '../kit/action.ts'
import type { Flags } from '../kit/action.ts'
import type { Context } from '../kit/context.ts'
import { printNewSecret } from '../kit/new-secret.ts'
import { optionalReason } from '../kit/read-values.ts'

/** A client of a program, by its id; whether there is one, the service says. */
const client = wordSubject('client-id', 'Client id, from svc credentials list')

/** Operators give a reason; a merchant's own clients are in no audit trail. */
const ofPlatform = {
  platform: { summary: "Use the platform's clients, as an operator (if only an operator is signed in)" },
  reason: { ...optionalReason, summary: 'Reason of a change to the platform, recorded in the audit trail' },
} as const satisfies Flags

/** @throws {CliError} exit code 2 */
function needReason(reason: string | undefined): string {
  if (reason !== undefined) return reason
  throw usageError('--reason: must not be empty; it is recorded in the audit trail')
}

/** @throws {CliError} exit code 2 */
function refuseReason(reason: string | undefined): void {
  if (reason !== undefined) throw usageError("--reason is for the platform's clients; say --platform as well")
}

const creating = {
  command: 'credentials create',
  summary: 'Create an API client',
  details: 'The secret is printed once.',
  examples: [
    'svc credentials create --name "web shop"',
    'svc credentials create --name ci --role DEVELOPER --json',
    'svc credentials create --platform --name "nightly review" --role OPS --reason "reviews at night"',
  ],
  subject: undefined,
  flags: {
    name: { value: 'name', summary: 'Name that says what it is for', required: true },
    role: {
      value: 'role',
      summary: "Role (payments only; required for the platform's)",
      choices: [...MerchantRole.options, ...PlatformRole.options],
    },
    ...ofPlatform,
  },
} as const

const create = action({
  ...creating,
  operation: createApiCredential,
  request(_id, { name, role = null, reason }) {
    refuseReason(reason)
    return { body: { name, role: role === null ? null : roleIn(MerchantRole, role) } }
  },
  effect: (_thing, { name, role }) => `make the client ${name}, for ${role ?? 'payments only'}`,
  done: (_thing, made) => `made ${made.client_id}`,
  view: (context, made) => printNewSecret(context, made, `svc credentials revoke ${quoted(made.client_id)}`),
})

/** @throws {CliError} exit code 2 for a role of the other side */
function roleIn<Role extends string>(roles: { options: readonly Role[] }, given: string): Role {
  const role = roles.options.find((each) => each === given)
  if (role === undefined) throw usageError(`--role: must be one of ${roles.options.join(', ')}, not ${given}`)
  return role
}

const createOfPlatform = action({
  ...creating,
  operation: createStaffClient,
  request(_id, { name, role, reason }) {
    if (role === undefined) throw usageError(`--role: must be one of ${PlatformRole.options.join(', ')}`)
    return { body: { name, role: roleIn(PlatformRole, role), reason: needReason(reason) } }
  },
  effect: (_thing, { name, role }) => `make the platform's client ${name}, for ${role ?? ''}`,
  done: (_thing, made) => `made ${made.client_id}`,
  view: (context, made) =>
    printNewSecret(
      context,
      made,
      `svc credentials revoke ${quoted(made.client_id)} --platform --reason "its secret is lost"`,
    ),
})

const rotate = action({
  command: 'credentials rotate',
  summary: 'Rotate the secret of an API client',
  details: 'The old secret is rejected at once. The new one is printed once.',
  examples: ['svc credentials rotate acme-ltd-server'],
  subject: client,
  flags: {},
  operation: rotateApiCredential,
  effect: ({ word: id }) => `end the secret of ${id} at once, and make another`,
  done: ({ word: id }) => `gave ${id} another secret`,
  confirm: true,
  view: (context, made, { word: id }) => printNewSecret(context, made, `svc credentials rotate ${quoted(id)}`),
})

const revoking = {
  command: 'credentials revoke',
  summary: 'Revoke an API client',
  details: 'The client gets no new tokens, and its current ones are rejected.',
  examples: [
    'svc credentials revoke acme-ltd-key-4f7a1c9e',
    'svc credentials revoke platform-key-4f7a1c9e --platform --reason "unused"',
  ],
  subject: client,
  flags: ofPlatform,
  effect: ({ word: id }: { word: string }) => `revoke the client ${id}: nothing can sign in as it any more`,
  done: ({ word: id }: { word: string }) => `revoked ${id}`,
  confirm: true,
  view: printRevoked,
} as const

const revoke = action({
  ...revoking,
  operation: revokeApiCredential,
  request(id, { reason }) {
    refuseReason(reason)
    return { params: { id } }
  },
})

const revokeOfPlatform = action({
  ...revoking,
  operation: revokeStaffClient,
  request: (id, { reason }) => ({ params: { id }, body: { reason: needReason(reason) } }),
})

type Revoked = { client_id: string; role: string | null; revoked_at: string }

function printRevoked({ print }: Context, revoked: Revoked): void {
  print.record(revoked, [
    ['Client id', revoked.client_id],
    ['Role', roleText(revoked.role)],
    ['Revoked', shortTime(revoked.revoked_at)],
  ])
}

export const CREATE = { own: create, ofPlatform: createOfPlatform }
export const REVOKE = { own: revoke, ofPlatform: revokeOfPlatform }
export const ROTATE = rotate
