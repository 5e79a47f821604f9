import { setKybStatus, setMerchantActive, setPayoutHold } from '../../src/wire/admin.ts'
import type { AdminMerchant, KybStatus } from '../../src/wire/admin.ts'
import { resetMemberFactor } from '../../src/wire/team.ts'
import { CliError } from '../base/errors.ts'
import { action, commandLine } from '../kit/action.ts'
import type { Action, ActionKey, AnyAction, FlagValues } from '../kit/action.ts'
import { reason } from '../kit/read-values.ts'
import { merchant } from './subject.ts'
import { printMerchant } from './view.ts'

/** What all of these have that say why something of a merchant changes. */
const ofMerchant = { subject: merchant, flags: { reason }, view: printMerchant } as const

const HELD = 'its payouts are held, and it can create no payments until release; refunds go on'
const RELEASED = 'its payouts go on, and it can create payments again'

const holdSet = action({
  ...ofMerchant,
  command: 'hold set',
  summary: "Hold a merchant's payouts and new payments",
  details: 'A held merchant is paid out nothing and can create no payments until its release. Refunds continue.',
  examples: ['svc hold set acme-ltd --reason "under investigation"'],
  operation: setPayoutHold,
  request: (id, values) => ({ params: { id }, body: { payout_held: true, reason: values.reason } }),
  move: { member: 'payout_held', from: false, to: true, already: (thing) => `${merchant.name(thing)} is held already` },
  effect: ({ trading_name: name }) => `hold ${name}: ${HELD}`,
  done: ({ trading_name: name }) => `held the payouts of ${name}`,
  confirm: true,
  key: { letter: 'h', label: 'hold' },
})

const holdRelease = action({
  ...ofMerchant,
  command: 'hold release',
  summary: 'Release a held merchant',
  details: 'Its payouts continue, and it can create payments again.',
  examples: ['svc hold release acme-ltd --reason "cleared"'],
  operation: setPayoutHold,
  request: (id, values) => ({ params: { id }, body: { payout_held: false, reason: values.reason } }),
  move: { member: 'payout_held', from: true, to: false, already: (thing) => `${merchant.name(thing)} is not held` },
  effect: ({ trading_name: name }) => `release ${name}: ${RELEASED}`,
  done: ({ trading_name: name }) => `released the payouts of ${name}`,
  key: { letter: 'h', label: 'release' },
})

type Decision<Word extends string> = {
  word: Word
  from: KybStatus
  to: KybStatus
  summary: string
  example: string
  past: string
  means: string
  key: ActionKey
}

/** One word of `svc kyb`. A status can be left by two words, which say different things of a merchant (decision 19). */
function decision<const Word extends string>({
  word,
  from,
  to,
  summary,
  example,
  past,
  means,
  key,
}: Decision<Word>): Action<AdminMerchant, typeof ofMerchant.flags, typeof setKybStatus, `kyb ${Word}`> {
  return action({
    ...ofMerchant,
    command: `kyb ${word}`,
    summary,
    examples: [`svc kyb ${word} acme-ltd --reason "${example}"`],
    operation: setKybStatus,
    request: (id, values) => ({ params: { id }, body: { kyb_status: to, reason: values.reason } }),
    move: {
      member: 'kyb_status',
      from,
      to,
      already: (thing) => `${merchant.name(thing)} is ${to} already`,
      refusal: (thing, values) => otherWord({ word, from, to }, { thing, values }),
    },
    effect: ({ trading_name: name, kyb_status: status }) => `${word} ${name}: KYB from ${status} to ${to}; ${means}`,
    done: ({ trading_name: name }) => `${past} ${name}`,
    ...(to === 'SUSPENDED' ? { confirm: true as const } : {}),
    key,
  })
}

const KYB = [
  decision({
    word: 'approve',
    from: 'PENDING',
    to: 'APPROVED',
    summary: "Approve a merchant's KYB review",
    example: 'documents checked',
    past: 'approved',
    means: 'it can create payments',
    key: { letter: 'a', label: 'approve' },
  }),
  decision({
    word: 'refuse',
    from: 'PENDING',
    to: 'SUSPENDED',
    summary: "Reject a merchant's KYB review",
    example: 'company not found in the register',
    past: 'refused',
    means: 'it stays without payments',
    key: { letter: 's', label: 'refuse' },
  }),
  decision({
    word: 'suspend',
    from: 'APPROVED',
    to: 'SUSPENDED',
    summary: 'Suspend an approved merchant',
    example: 'chargebacks',
    past: 'suspended',
    means: 'it can create no payments',
    key: { letter: 's', label: 'suspend' },
  }),
  decision({
    word: 'reinstate',
    from: 'SUSPENDED',
    to: 'APPROVED',
    summary: 'Reinstate a rejected or suspended merchant',
    example: 'documents arrived',
    past: 'reinstated',
    means: 'it can create payments',
    key: { letter: 'u', label: 'reinstate' },
  }),
] as const

function otherWord(
  { word, from, to }: Pick<Decision<string>, 'word' | 'from' | 'to'>,
  { thing, values }: { thing: AdminMerchant; values: FlagValues },
): CliError {
  const { trading_name: name, kyb_status: status } = thing
  const fitting: readonly AnyAction[] = KYB.filter(({ move }) => move?.from === status && move.to === to)
  return new CliError('KYB_TRANSITION_INVALID', `${word} is for merchants that are ${from}, and ${name} is ${status}`, {
    hint:
      fitting.map((each) => commandLine(each, merchant.handle(thing), values)).join('\n') ||
      `svc kyb show ${merchant.handle(thing)}`,
  })
}

const enable = action({
  ...ofMerchant,
  command: 'merchants enable',
  summary: 'Enable a merchant',
  examples: ['svc merchants enable acme-ltd --reason "contract renewed"'],
  operation: setMerchantActive,
  request: (id, values) => ({ params: { id }, body: { is_active: true, reason: values.reason } }),
  move: {
    member: 'is_active',
    from: false,
    to: true,
    already: (thing) => `${merchant.name(thing)} is enabled already`,
  },
  effect: ({ trading_name: name }) => `enable ${name}: it can work again`,
  done: ({ trading_name: name }) => `enabled ${name}`,
  key: { letter: 'E', label: 'enable' },
})

// Disabling it again repairs a realm that missed it, and takes nothing away: so it is not asked twice.
const disable = action({
  ...ofMerchant,
  command: 'merchants disable',
  summary: 'Disable a merchant',
  details: `Sign-ins to its realm fail at once, and no payout is made. Tokens that it has already live for 15 minutes at most: until
then they read, refund, answer disputes and end mandates, and change nothing else.`,
  examples: ['svc merchants disable acme-ltd --reason "left us"'],
  operation: setMerchantActive,
  request: (id, values) => ({ params: { id }, body: { is_active: false, reason: values.reason } }),
  move: {
    member: 'is_active',
    from: true,
    to: false,
    already: (thing) => `${merchant.name(thing)} is disabled already`,
  },
  effect: ({ trading_name: name }) => `disable ${name}: its people can't sign in, and it can create no payments`,
  done: ({ trading_name: name }) => `disabled ${name}`,
  confirm: true,
  key: { letter: 'E', label: 'disable' },
})

const resetFactor = action({
  command: 'merchants reset-factor',
  summary: "Reset the second factor of a merchant's team member",
  details: 'For an ADMIN whom no other ADMIN can help: svc team reset-factor. Ends all sessions.',
  examples: ['svc merchants reset-factor acme-ltd --email ada@acme.example --reason "lost the phone"'],
  subject: merchant,
  flags: { email: { value: 'address', summary: 'E-mail address of the team member', required: true }, reason },
  operation: resetMemberFactor,
  effect: (_thing, values) => `remove the second factor of ${values.email} and end all sessions`,
  done: (_thing, { email }) => `reset the second factor of ${email}`,
  confirm: true,
  view({ print }, member) {
    print.record(member, [
      ['Team member', member.id],
      ['E-mail', member.email],
    ])
  },
})

export const HOLD_ACTIONS = [holdSet, holdRelease] as const
export const KYB_ACTIONS = KYB
export const ACTIVE_ACTIONS = [enable, disable] as const
export const FACTOR_ACTIONS = [resetFactor] as const
