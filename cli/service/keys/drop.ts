import { ChangeOptions } from '../../kit/change.ts'
import { confirm } from '../../kit/confirm.ts'
import type { CommandInput, CommandResult, Context } from '../../kit/context.ts'
import { CliError, usageError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { runningState } from '../../client/find-service.ts'
import { dropFromKeyRing } from '../up/key-file.ts'
import { databaseOf, isLiveIn, keysOf, withDatabase } from './open.ts'
import type { Keys } from './open.ts'

export const DropOptions = ChangeOptions
export type DropOptions = ChangeOptions

export async function drop(
  context: Context,
  { args: [kid], options }: CommandInput<DropOptions>,
): Promise<CommandResult> {
  const keys = await keysOf(context)
  if (keys.source === 'environment')
    throw usageError(
      'the keys are in the environment: take it out of SVC_ENCRYPTION_KEY_PREVIOUS there',
      'svc keys list',
    )
  checkKnown(keys, kid)
  refuseInUse(context, keys, kid)
  await refuseNeeded(keys, kid)
  if (!options.dryRun && isLiveIn(context.io.env))
    await confirm(context, { what: `forget the key ${kid}`, words: [kid], isExact: true, yes: options.yes })
  if (!options.dryRun) await dropFromKeyRing(context.stateDir, kid)
  context.print.record({
    item: { kid, dropped: !options.dryRun },
    id: kid,
    lines: [[options.dryRun ? 'Would drop' : 'Dropped', kid]],
  })
  if (options.dryRun) context.note('Nothing was changed.')
  return undefined
}

function checkKnown({ sealer }: Keys, kid: string | undefined): asserts kid is string {
  if (kid === sealer.kid) throw usageError(`${kid} is the current key`, 'svc keys rotate makes another one current')
  if (kid !== undefined && sealer.previousKids.includes(kid)) return
  throw new CliError('NOT_FOUND', `there is no previous key "${kid ?? ''}"`, {
    exit: EXIT.notFound,
    hint: 'svc keys list',
  })
}

/** A service that began before the rotation seals under it still. */
function refuseInUse({ stateDir }: Context, { sealer }: Keys, kid: string): void {
  const running = runningState(stateDir)
  if (running === undefined || running.key_id === sealer.kid) return
  throw new CliError('KEY_IN_USE', `the running service does not have the current key yet, and may seal under ${kid}`, {
    exit: EXIT.conflict,
    hint: 'svc down\nsvc up\nthen the same command again',
  })
}

async function refuseNeeded(keys: Keys, kid: string): Promise<void> {
  const { listKeys } = await import('../../../src/keys/list-keys.ts')
  const listed = await withDatabase(keys, databaseOf(keys), (app) => listKeys(app))
  const values = listed.find((key) => key.kid === kid)?.values ?? 0
  if (values === 0) return
  throw new CliError('KEY_NEEDED', `${values} values are sealed under ${kid} still`, {
    exit: EXIT.conflict,
    hint: 'svc keys list until there are none; the running service encrypts them anew within minutes',
    retryable: true,
  })
}
