import { kidOfKey, makeSealer } from '../../../src/lib/seal.ts'
import type { Sealer } from '../../../src/lib/seal.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { runningState } from '../../client/find-service.ts'
import type { ChangeOptions } from '../../kit/change.ts'
import { confirm } from '../../kit/confirm.ts'
import type { CommandInput, CommandResult, Context } from '../../kit/context.ts'
import { withProgress } from '../../output/progress.ts'
import type { Progress } from '../../output/progress.ts'
import { checkRotatable, hasKeyIn, readKeyRing, rotateKeyRing, noKey, variablesOf } from '../up/key-file.ts'
import type { KeysApp } from '../../../src/keys/reseal.ts'
import { CliError } from '../../base/errors.ts'
import { explained } from '../up/explain.ts'
import { variableIn } from '../../base/environment-variables.ts'

export async function rotate(context: Context, { options }: CommandInput<ChangeOptions>): Promise<CommandResult> {
  return hasKeyIn(context.io.env) ? rotateData(context, options) : rotateDirectory(context, options)
}

/** A new first key in the state directory. What runs does not notice: it has read its keys when it began. */
async function rotateDirectory(context: Context, { dryRun }: ChangeOptions): Promise<CommandResult> {
  const { stateDir } = context
  const known = checkRotatable(readKeyRing(stateDir), stateDir)
  const before = kidOfKey(known[0])
  if (dryRun) {
    context.print.record({
      item: { dry_run: true, state_dir: stateDir, kid_before: before, keys: known.length + 1 },
      id: before,
      lines: [
        ['Would make', 'a new key'],
        ['And keep', known.map((key) => kidOfKey(key)).join(', ')],
      ],
    })
    context.note('Nothing was changed.')
    return undefined
  }
  const [current, ...previous] = await rotateKeyRing(stateDir)
  const kids = { kid: kidOfKey(current), previous: previous.map((key) => kidOfKey(key)) }
  context.print.record({
    item: { ...kids, state_dir: stateDir },
    id: kids.kid,
    lines: [
      ['New key', kids.kid],
      ['Kept', kids.previous.join(', ')],
    ],
  })
  context.note(
    runningState(stateDir) !== undefined
      ? 'The running service goes on with the key before. To take the new one: svc down, and then svc up'
      : 'The next start takes the new key, and encrypts the rest anew in the background: svc up',
  )
  context.note('People sign in anew then, and svc up prints new demo logins in the place of those it printed before.')
  context.note('How far it is: svc config keys list')
}

/** How often it goes through everything, where other processes go on sealing under a previous key. */
const ROUNDS_MAX = 5

const TOLD_EVERY = 1_000

async function rotateData(context: Context, { dryRun, yes }: ChangeOptions): Promise<CommandResult> {
  const keys = await keysOf(context)
  if (!dryRun && isLiveIn(context.io.env)) {
    const { kid } = keys.sealer
    await confirm(context, { what: `encrypt every secret anew under the key ${kid}`, words: [kid], isExact: true, yes })
  }
  const { hasUnknownKey, countUnderPreviousKeys, listKeys } = await import('../../../src/keys/list-keys.ts')
  const { resealAll } = await import('../../../src/keys/reseal.ts')
  return withDatabase(keys, databaseOf(keys), async (app) => {
    let listed = await listKeys(app)
    let resealed = 0
    const broken = new Set<string>()
    const onBroken = (where: string): void => void broken.add(where)
    await withProgress(context, { title: 'Encrypting anew', unit: 'values' }, async (progress) => {
      const onProgress = progressFor(progress, countUnderPreviousKeys(listed))
      for (let round = 0; !dryRun && round < ROUNDS_MAX && countUnderPreviousKeys(listed) > 0; round += 1) {
        const done = await resealAll(app, { onBroken, onProgress: (count) => onProgress(resealed + count) })
        resealed += done.resealed
        listed = await listKeys(app)
        if (done.resealed === 0) break
      }
    })
    const left = countUnderPreviousKeys(listed)
    const unknown = listed.filter(({ state, values }) => state === 'unknown' && values > 0).map(({ kid }) => kid)
    context.print.record({
      item: { dry_run: dryRun, kid: app.sealer.kid, resealed, left, broken: broken.size, unknown_keys: unknown },
      id: app.sealer.kid,
      lines: [
        ['Current key', app.sealer.kid],
        [dryRun ? 'Would encrypt anew' : 'Encrypted anew', String(dryRun ? left : resealed)],
        ['Left under previous keys', dryRun ? '' : String(left)],
        ['Do not open', broken.size === 0 ? '' : [...broken].slice(0, 10).join(', ')],
        ['Under unknown keys', unknown.join(', ')],
      ],
    })
    if (app.sealer.previousKids.length === 0)
      context.note(
        'There is one key, and so nothing to encrypt anew: SVC_ENCRYPTION_KEY_PREVIOUS names those before it.',
      )
    if (dryRun) context.note('Nothing was changed.')
    return hasUnknownKey(listed) || (!dryRun && left > 0) ? EXIT.failure : undefined
  })
}

function progressFor({ at, of, note, isShown }: Progress, total: number): (resealed: number) => void {
  let told = 0
  of(total)
  return (resealed) => {
    at(resealed)
    if (isShown || resealed < told + TOLD_EVERY) return
    told = resealed
    note(`Encrypted anew: ${resealed} of ${total}`)
  }
}

export type Keys = {
  source: 'environment' | 'state directory'
  sealer: Sealer
  /** Undefined where no database is named, and none runs here. */
  databaseUrl: string | undefined
}

/**
 * The keys of the environment, else of the state directory, and the database that they belong to.
 * @throws {CliError} CONFIGURATION; NO_KEY where there is neither
 */
export async function keysOf({ io, stateDir }: Context): Promise<Keys> {
  const isEnvironment = hasKeyIn(io.env)
  const ring = isEnvironment ? undefined : readKeyRing(stateDir)
  if (!isEnvironment && ring === undefined) throw noKey(stateDir)
  const { readKeys } = await import('../../../src/config/read.ts')
  const env = ring === undefined ? io.env : { ...io.env, ...variablesOf(ring) }
  const { encryptionKey, encryptionKeysPrevious } = await explained(() => readKeys(env))
  return {
    source: isEnvironment ? 'environment' : 'state directory',
    sealer: makeSealer(encryptionKey, encryptionKeysPrevious),
    databaseUrl: variableIn(io.env, 'SVC_DATABASE_URL') ?? runningState(stateDir)?.database_url,
  }
}

/** Whether the environment says that the keys are of a service in live mode; svc up, with its state directory, has none. */
function isLiveIn(env: NodeJS.ProcessEnv): boolean {
  return variableIn(env, 'SVC_MODE') === 'live'
}

/** Works with the database that the keys belong to, with nothing else of the service. */
export async function withDatabase<T>(
  { sealer }: Keys,
  databaseUrl: string,
  work: (app: KeysApp) => Promise<T>,
): Promise<T> {
  const [{ makePool }, { requireMigrated }, { describeDatabaseError }, { RUNTIME_ROLE }] = await Promise.all([
    import('../../../src/db/pool.ts'),
    import('../../../src/db/migrate.ts'),
    import('../../../src/db/describe-error.ts'),
    import('../../../src/app.ts'),
  ])
  const describe = (error: unknown): string => describeDatabaseError(error, databaseUrl)
  const target = { databaseUrl, role: RUNTIME_ROLE, applicationName: 'svc config keys', size: 1 }
  const pool = await explained(() => requireMigrated({ databaseUrl }).then(() => makePool(target)), { describe })
  try {
    return await work({ pool, sealer })
  } finally {
    await pool.end()
  }
}

/** @throws {CliError} CONFIGURATION, exit code 2 */
export function databaseOf({ databaseUrl }: Keys): string {
  if (databaseUrl !== undefined) return databaseUrl
  throw new CliError('CONFIGURATION', 'no database is named, and none runs here', {
    exit: EXIT.usage,
    hint: 'SVC_DATABASE_URL in the environment, or svc up',
  })
}
