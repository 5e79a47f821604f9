import { nearestWord } from '../base/nearest-word.ts'

/** What this version records in the audit trail. The test holds it against the places that record something. */
export const KNOWN_ACTIONS = [
  'merchant.register',
  'merchant.kyb',
  'merchant.hold',
  'merchant.active',
  'merchant.fees',
  'registration.assign_role',
  'registration.invite',
  'registration.replace_admin',
  'registration.restore_admin',
  'registration.restore_realm',
  'registration.rollback',
  'statement.import',
  'statement_line.resolve',
  'dispute.raise',
  'dispute.escalate',
  'dispute.resolve',
  'team.invite',
  'team.reinvite',
  'team.role',
  'team.remove',
  'branding.set',
  'checkout_origins.set',
  'webhook_secret.rotate',
  'webhook_secret.end_overlap',
  'credential.create',
  'credential.rotate',
  'credential.revoke',
  'bank_account.add',
  'bank_account.disable',
  'staff.add',
  'staff.reinvite',
  'staff.role',
  'staff.remove',
  'staff.client_create',
  'staff.client_revoke',
  'realm.rotate_keys',
  'merchant.seed',
  'merchant.seed_password',
  'staff.seed_password',
  'customer.seed',
  'customer.seed_password',
  'sandbox.create_merchant',
  'sandbox.create_customer',
  'sandbox.set_account',
  'sandbox.seed',
  'sandbox.clock',
  'sandbox.bank_faults',
  'sandbox.advance_payment',
  'webhook.endpoint',
  'webhook.replay',
  'webhook.replay_many',
] as const

/** The action that was probably meant: a near one, or one that has a word in common, rather what was done than to what. */
export function nearestAction(name: string): string | undefined {
  const wanted = name.toLowerCase().split(/[._-]/)
  const shared = KNOWN_ACTIONS.filter((known) => known.split(/[._]/).some((word) => wanted.includes(word)))
  const byVerb = shared.filter((known) => wanted.includes(known.split('.')[1] ?? ''))
  return nearestWord(name, KNOWN_ACTIONS) ?? byVerb[0] ?? shared[0]
}
