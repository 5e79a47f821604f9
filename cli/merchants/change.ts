import { z } from 'zod'
import { setMerchantActive } from '../../src/wire/admin.ts'
import type { AdminMerchant } from '../../src/wire/admin.ts'
import { repairRegistration } from '../../src/wire/registration.ts'
import { ChangeOptions, Reason, change } from '../kit/change.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { findMerchant } from './find.ts'
import { effectOfRepair } from './repair-effects.ts'
import { printMerchant } from './view.ts'

export const ActiveOptions = ChangeOptions.extend({ reason: Reason })
type ActiveInput = CommandInput<z.infer<typeof ActiveOptions>>

/** What a person may type to confirm that this merchant is meant: what no other one has. */
export function namesOf({ realm_slug, id }: AdminMerchant): (string | null)[] {
  return [realm_slug, id]
}

export async function enable(context: Context, input: ActiveInput): Promise<CommandResult> {
  return setActive(context, input, true)
}

export async function disable(context: Context, input: ActiveInput): Promise<CommandResult> {
  return setActive(context, input, false)
}

async function setActive(context: Context, { args, options }: ActiveInput, isActive: boolean): Promise<CommandResult> {
  const client = context.client()
  const { merchant, isExact } = await findMerchant(client, args)
  if (merchant.is_active === isActive)
    context.note(`${merchant.trading_name} is ${isActive ? 'enabled' : 'disabled'} already.`)
  const what = `disable ${merchant.trading_name}: nobody of it can sign in, and its tokens are refused`
  const changed = await change(context, client, setMerchantActive, {
    input: {
      params: { id: merchant.id },
      body: { is_active: isActive, reason: options.reason, expected: { is_active: merchant.is_active } },
    },
    options,
    effect:
      merchant.is_active === isActive
        ? 'this would tell its realm once more, and change nothing else'
        : `this would ${isActive ? 'enable' : 'disable'} ${merchant.trading_name}`,
    // Disabling it again heals a realm that did not hear of it, and takes nothing from anybody.
    ...(isActive || !merchant.is_active
      ? {}
      : { danger: { what, words: namesOf(merchant), isExact, yes: options.yes } }),
  })
  if (changed !== undefined) printMerchant(context, changed)
  return undefined
}

export const RepairOptions = ChangeOptions.extend({
  rollback: z.boolean().default(false),
  adminEmail: z.string().optional(),
  reason: Reason.optional(),
})

/** Heals a half-made registration; what was rolled back is free to be registered again. */
export async function repair(
  context: Context,
  { args, options }: CommandInput<z.infer<typeof RepairOptions>>,
): Promise<CommandResult> {
  const [slug] = args
  if (slug === undefined) throw usageError('which registration? Its realm is missing', 'svc merchants registrations')
  const { rollback, adminEmail, reason } = options
  const body = {
    rollback,
    ...(adminEmail === undefined ? {} : { admin_email: adminEmail }),
    ...(reason === undefined ? {} : { reason }),
  }
  const what = rollback ? `take the realm ${slug} away` : `make ${adminEmail ?? ''} the administrator of ${slug}`
  const danger = { what, words: [slug], isExact: true, yes: options.yes }
  const client = context.client()
  const repaired = await change(context, client, repairRegistration, {
    input: { params: { slug }, body },
    options,
    effect: options.dryRun ? await effectOfRepair(client, slug, options) : undefined,
    ...(rollback || adminEmail !== undefined ? { danger } : {}),
  })
  if (repaired === undefined) return undefined
  context.print.record({
    item: repaired,
    id: repaired.slug,
    lines: [
      ['Realm', repaired.slug],
      ['Status', repaired.status],
      ['Repaired', repaired.repaired.join('; ') || 'nothing had to be'],
    ],
  })
  return undefined
}
