import type { KeysApp } from '../../../src/keys/reseal.ts'
import { kidOfKey, makeSealer } from '../../../src/lib/seal.ts'
import type { Sealer } from '../../../src/lib/seal.ts'
import { variableIn } from '../../base/environment-variables.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { runningState } from '../../client/find-service.ts'
import type { ChangeOptions } from '../../kit/change.ts'
import { command } from '../../kit/command.ts'
import { confirm } from '../../kit/confirm.ts'
import type { CommandResult, Context } from '../../kit/context.ts'
import { withProgress } from '../../output/progress.ts'
import type { Progress } from '../../output/progress.ts'
import { explained } from '../up/explain.ts'
import { databaseOf, withPool } from '../with-pool.ts'
import { checkRotatable, hasKeyIn, readKeyRing, rotateKeyRing, noKey, variablesOf } from '../up/key-file.ts'

/** Where the commands about keys look for them. */
export const KEYS_PLACE = `Where SVC_ENCRYPTION_KEY is set, the keys are that one and SVC_ENCRYPTION_KEY_PREVIOUS; otherwise those that svc up keeps
in master.key of its state directory. The database is SVC_DATABASE_URL, or that of the running svc up. Keys are named by
their ids and never shown.`

export const rotate = command({
  command: 'config keys rotate',
  summary: 'Rotate the master key',
  details: `${KEYS_PLACE}

With the state directory: creates a new key and keeps the old one beside it. A running svc up continues with the old key.
The next start uses the new key, opens values of both, and encrypts the rest again in the background.
  svc config keys rotate; svc down; svc up; svc config keys list

With the environment: encrypts the values of a previous key again under SVC_ENCRYPTION_KEY, beside the running
service; exit code 0 once nothing is left. Every running process must know the new key before anything is sealed under it:
  1. deploy SVC_ENCRYPTION_KEY=<old> SVC_ENCRYPTION_KEY_PREVIOUS=<new>
  2. deploy SVC_ENCRYPTION_KEY=<new> SVC_ENCRYPTION_KEY_PREVIOUS=<old>
  3. the worker does the rest in the background, or this command at once; svc config keys list shows when it is done
  4. deploy without the old one

After a change of keys people sign in again, and svc up has new demo logins.`,
  examples: [
    'svc config keys rotate',
    'SVC_DATABASE_URL=postgres://... SVC_ENCRYPTION_KEY=... SVC_ENCRYPTION_KEY_PREVIOUS=... svc config keys rotate',
  ],
  flags: {
    dryRun: { summary: 'Show what would be done, and change nothing' },
    yes: { short: '-y', summary: 'Skip the confirmation in live mode' },
  },
  async run(context, input) {
    return hasKeyIn(context.io.env) ? rotateData(context, input) : rotateDirectory(context, input)
  },
})

/** A new first key in the state directory. What runs does not notice: it has read its keys when it began. */
async function rotateDirectory(context: Context, { dryRun }: ChangeOptions): Promise<CommandResult> {
  const { stateDir } = context
  const known = checkRotatable(readKeyRing(stateDir), stateDir)
  const before = kidOfKey(known[0])
  if (dryRun) {
    context.print.record(
      { dry_run: true, state_dir: stateDir, kid_before: before, keys: known.length + 1 },
      [
        ['Would make', 'a new key'],
        ['And keep', known.map((key) => kidOfKey(key)).join(', ')],
      ],
      { id: before },
    )
    context.note('Nothing was changed.')
    return undefined
  }
  const [current, ...previous] = await rotateKeyRing(stateDir)
  const kids = { kid: kidOfKey(current), previous: previous.map((key) => kidOfKey(key)) }
  context.print.record({ ...kids, state_dir: stateDir }, [
    ['New key', kids.kid],
    ['Kept', kids.previous.join(', ')],
  ])
  context.note(
    runningState(stateDir) !== undefined
      ? 'The running service continues to use the previous key. To use the new one: svc down, and then svc up'
      : 'The next start uses the new key, and encrypts the rest again in the background: svc up',
  )
  context.note(
    'Then everyone has to sign in again, and svc up prints new demo logins, which replace the previous ones.',
  )
  context.note('To see the progress: svc config keys list')
}

/** How often it goes through everything, where other processes go on sealing under a previous key. */
const ROUNDS_MAX = 5

const NOTED_EVERY = 1_000

async function rotateData(context: Context, { dryRun, yes = false }: ChangeOptions): Promise<CommandResult> {
  const keys = await keysOf(context)
  if (!dryRun && isLiveIn(context.io.env)) {
    const { kid } = keys.sealer
    await confirm(context, {
      what: `encrypt every secret again under the key ${kid}`,
      words: [kid],
      isExact: true,
      yes,
    })
  }
  const { hasUnknownKey, countUnderPreviousKeys, listKeys } = await import('../../../src/keys/list-keys.ts')
  const { resealAll } = await import('../../../src/keys/reseal.ts')
  return withDatabase(keys, databaseOf(context), async (app) => {
    let listed = await listKeys(app)
    let resealed = 0
    const broken = new Set<string>()
    const onBroken = (where: string): void => void broken.add(where)
    await withProgress(context, { title: 'Encrypting again', unit: 'values' }, async (progress) => {
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
    context.print.record(
      { dry_run: dryRun, kid: app.sealer.kid, resealed, left, broken: broken.size, unknown_keys: unknown },
      [
        ['Current key', app.sealer.kid],
        [dryRun ? 'Would encrypt again' : 'Encrypted again', String(dryRun ? left : resealed)],
        ['Left under previous keys', dryRun ? '' : String(left)],
        ['Do not open', broken.size === 0 ? '' : [...broken].slice(0, 10).join(', ')],
        ['Under unknown keys', unknown.join(', ')],
      ],
    )
    if (app.sealer.previousKids.length === 0)
      context.note(
        'There is one key, and so nothing to encrypt again: SVC_ENCRYPTION_KEY_PREVIOUS names those before it.',
      )
    if (dryRun) context.note('Nothing was changed.')
    return hasUnknownKey(listed) || (!dryRun && left > 0) ? EXIT.failure : undefined
  })
}

function progressFor({ at, of, note, isShown }: Progress, total: number): (resealed: number) => void {
  let noted = 0
  of(total)
  return (resealed) => {
    at(resealed)
    if (isShown || resealed < noted + NOTED_EVERY) return
    noted = resealed
    note(`Encrypted again: ${resealed} of ${total}`)
  }
}

export type Keys = {
  source: 'environment' | 'state directory'
  sealer: Sealer
}

/**
 * The keys of the environment, else of the state directory.
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
  }
}

/** Whether the environment says that the keys are of a service in live mode; svc up, with its state directory, has none. */
function isLiveIn(env: NodeJS.ProcessEnv): boolean {
  return variableIn(env, 'SVC_MODE') === 'live'
}

export function withDatabase<T>({ sealer }: Keys, databaseUrl: string, work: (app: KeysApp) => Promise<T>): Promise<T> {
  return withPool({ databaseUrl, applicationName: 'svc config keys' }, (pool) => work({ pool, sealer }))
}
