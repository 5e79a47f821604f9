import type { KybStatus } from '../../../src/wire/admin.ts'
import { memberOf } from '../member.ts'

/** What a step is called today, with the members that have another name; null for those that are gone. */
export type Renamed = { verb: string; members?: Readonly<Record<string, string | null>> }

/** What an old verb's step was given, and the KYB status that its merchant had before. */
type Written = { input: unknown; status: KybStatus }
type OldVerb = {
  /** All that it can be today. */
  now: readonly string[]
  /** Undefined where the step is nothing that people can do, or says it by a reference. */
  renamed(written: Written): Renamed | undefined
}

/** Verbs of before: they are named after what they did, and no longer after what they sent. */
const OLD_VERBS: Readonly<Record<string, OldVerb>> = {
  kyb: {
    now: ['kyb.approve', 'kyb.refuse', 'kyb.suspend', 'kyb.reinstate'],
    renamed({ input, status: before }) {
      const status = memberOf(input, 'status')
      const members = { status: null }
      if (status === 'APPROVED') return { verb: before === 'SUSPENDED' ? 'kyb.reinstate' : 'kyb.approve', members }
      if (status === 'SUSPENDED') return { verb: before === 'PENDING' ? 'kyb.refuse' : 'kyb.suspend', members }
      return undefined
    },
  },
  hold: bySwitch('payouts', 'hold.set', 'hold.release'),
  active: bySwitch('enabled', 'merchants.enable', 'merchants.disable'),
  refund: always('payments.refund'),
  'payment.cancel': {
    now: ['payments.cancel', 'payer.cancel'],
    renamed({ input }) {
      const by = memberOf(input, 'by') ?? 'merchant'
      if (by !== 'merchant' && by !== 'payer') return undefined
      return { verb: by === 'payer' ? 'payer.cancel' : 'payments.cancel', members: { by: null } }
    },
  },
  endpoint: bySwitch('paused', 'webhooks.endpoint.pause', 'webhooks.endpoint.resume'),
  evidence: always('disputes.evidence'),
  accept: always('disputes.accept'),
  escalate: always('disputes.escalate'),
  resolve: always('disputes.resolve'),
  'consent.end': always('mandates.end'),
  'consent.cancel': always('mandates.cancel'),
  rotate_secret: always('secret.rotate'),
  fees: always('merchants.fees.set', { fee_percentage: 'percentage', fee_flat: 'flat' }),
}

function bySwitch(member: string, on: string, off: string): OldVerb {
  return {
    now: [on, off],
    renamed({ input }) {
      const value = memberOf(input, member)
      return typeof value === 'boolean' ? { verb: value ? on : off, members: { [member]: null } } : undefined
    },
  }
}

function always(verb: string, members: Renamed['members'] = {}): OldVerb {
  return { now: [verb], renamed: () => ({ verb, members }) }
}

/** What this verb of before can be today; undefined for a word that was none. */
export function newNamesOf(word: string): readonly string[] | undefined {
  return Object.hasOwn(OLD_VERBS, word) ? OLD_VERBS[word]?.now : undefined
}

/** What a step of this verb of before is today. */
export function renamedStep(word: string, written: Written): Renamed | undefined {
  return Object.hasOwn(OLD_VERBS, word) ? OLD_VERBS[word]?.renamed(written) : undefined
}
