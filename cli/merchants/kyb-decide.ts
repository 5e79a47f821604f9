import type { z } from 'zod'
import { setKybStatus } from '../../src/wire/admin.ts'
import type { KybStatus } from '../../src/wire/admin.ts'
import { ChangeOptions, Reason, change } from '../kit/change.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { CliError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { findMerchant } from './find.ts'
import type { MerchantDetails } from './find.ts'
import { namesOf } from './change.ts'
import { printMerchant } from './view.ts'

/** The reason is mandatory here, where people decide; over HTTP it is not (decision 19). */
export const DecideOptions = ChangeOptions.extend({ reason: Reason })
type DecideInput = CommandInput<z.infer<typeof DecideOptions>>

type Decision = 'approve' | 'refuse' | 'suspend' | 'reinstate'

/** From where to where each word leads: one status can be left by two words, which say different things of a merchant. */
const DECISIONS: Readonly<Record<Decision, { from: KybStatus; to: KybStatus }>> = {
  approve: { from: 'PENDING', to: 'APPROVED' },
  refuse: { from: 'PENDING', to: 'SUSPENDED' },
  suspend: { from: 'APPROVED', to: 'SUSPENDED' },
  reinstate: { from: 'SUSPENDED', to: 'APPROVED' },
}

/** The command of one decision. What has been decided already is no change, and a success. */
export function decide(decision: Decision): (context: Context, input: DecideInput) => Promise<CommandResult> {
  return async (context, { args, options }) => {
    const client = context.client()
    const { merchant, isExact } = await findMerchant(client, args)
    const { from, to } = DECISIONS[decision]
    const isDecided = merchant.kyb_status === to
    if (merchant.kyb_status !== from && !isDecided) throw otherWord(decision, merchant)
    if (isDecided) context.note(`${merchant.trading_name} is ${to} already.`)
    const what =
      decision === 'suspend'
        ? `suspend ${merchant.trading_name}: it can create no payments`
        : `refuse ${merchant.trading_name}: it stays without payments`
    const expected = { kyb_status: merchant.kyb_status }
    const changed = await change(context, client, setKybStatus, {
      input: { params: { id: merchant.id }, body: { kyb_status: to, reason: options.reason, expected } },
      options,
      effect: isDecided
        ? 'this would change nothing'
        : `this would ${decision} ${merchant.trading_name}: KYB from ${merchant.kyb_status} to ${to}`,
      ...(to === 'SUSPENDED' && !isDecided
        ? { danger: { what, words: namesOf(merchant), isExact, yes: options.yes } }
        : {}),
    })
    if (changed !== undefined) printMerchant(context, changed)
    return undefined
  }
}

function otherWord(decision: Decision, { trading_name, kyb_status, id }: MerchantDetails): CliError {
  const { from, to } = DECISIONS[decision]
  const words = Object.entries(DECISIONS).flatMap(([word, way]) =>
    way.from === kyb_status && way.to === to ? [word] : [],
  )
  return new CliError(
    'KYB_TRANSITION_INVALID',
    `${decision} is for merchants that are ${from}, and ${trading_name} is ${kyb_status}`,
    {
      exit: EXIT.conflict,
      hint: words.map((word) => `svc kyb ${word} ${id} --reason "..."`).join('\n') || `svc kyb show ${id}`,
    },
  )
}
