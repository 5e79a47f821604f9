import { z } from 'zod'
import { rotateRealmKeys } from '../../src/wire/staff.ts'
import { ChangeOptions, Reason, change } from '../kit/change.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { effectOfRotation } from './staff-effects.ts'

export const RotateOptions = ChangeOptions.extend({ realm: z.string(), reason: Reason })

/** Gives a realm a new signing key. */
export async function rotateKeys(
  context: Context,
  { options }: CommandInput<z.infer<typeof RotateOptions>>,
): Promise<CommandResult> {
  const { realm, reason } = options
  const client = context.client()
  const rotated = await change(context, client, rotateRealmKeys, {
    input: { params: { slug: realm }, body: { reason } },
    options,
    effect: options.dryRun ? await effectOfRotation(client, realm) : undefined,
    danger: {
      what: `sign the tokens of ${realm} with a new key`,
      words: [realm],
      isExact: true,
      yes: options.yes,
    },
  })
  if (rotated === undefined) return undefined
  context.print.record({
    item: rotated,
    id: rotated.realm,
    lines: [
      ['Realm', rotated.realm],
      ['Keys', rotated.key_ids.join(', ')],
    ],
  })
  return undefined
}
