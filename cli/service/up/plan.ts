import { isSetIn } from '../../base/environment-variables.ts'
import { usageError, CliError } from '../../base/errors.ts'
import { exitOfSignal } from '../../base/exit-codes.ts'

/** The model bank, in each version of the standard that it is spoken to in; 4.0 where none is named. */
export const BANKS = ['model', 'model-3.1'] as const

export const IDENTITY_KINDS = ['embedded', 'keycloak', 'none'] as const
export type IdentityKind = (typeof IDENTITY_KINDS)[number]

export type UpPlan = {
  stateDir: string
  port: number
  /** `url` is undefined when the environment names the outside database. */
  database: { kind: 'embedded' } | { kind: 'outside'; url: string | undefined }
  /** Who proves identities; undefined where the environment, or the default, decides. */
  identity: IdentityKind | undefined
  /** Where Keycloak is; undefined where the environment says it, or there is none. */
  authUrl: string | undefined
  /** The bank that runs beside the service, and the version that it is spoken to in. */
  bank?: (typeof BANKS)[number] | undefined
  env: NodeJS.ProcessEnv
  /** What every id and every chance follows from; for a service that lives for one run. */
  seed?: string | undefined
  /** Whether the data is for this run alone, and need not outlive a crash of the machine: that is faster. */
  disposable?: boolean | undefined
  /** How much the service logs unless SVC_LOG_LEVEL says otherwise. */
  logLevel: 'warn' | 'info'
  note(line: string): void
}

export type Database = {
  /** The environment of the service, with the database filled in. */
  env: NodeJS.ProcessEnv
  stateDir: string
  /** Resolves with a sentence when our own database ends without being asked; never for an outside one. */
  ended: Promise<string>
}

export function databaseOf(flag: string | undefined, env: NodeJS.ProcessEnv): UpPlan['database'] {
  if (flag === 'embedded') return { kind: 'embedded' }
  if (flag !== undefined && !/^postgres(ql)?:\/\//.test(flag)) {
    throw usageError(
      '--db: must be embedded or a postgres:// address',
      '--db postgres://user:password@127.0.0.1:5432/svc',
    )
  }
  if (flag !== undefined) return { kind: 'outside', url: flag }
  return isSetIn(env, 'SVC_DATABASE_URL') ? { kind: 'outside', url: undefined } : { kind: 'embedded' }
}

/**
 * Who proves identities: `--idp` and `--auth-url`, with what the environment says of Keycloak. Its secret has no flag,
 * for other users can read arguments.
 */
export function identityOf(
  { idp, authUrl }: { idp?: IdentityKind | undefined; authUrl?: string | undefined },
  env: NodeJS.ProcessEnv,
): Pick<UpPlan, 'identity' | 'authUrl'> {
  const isKeycloak = (idp ?? env['SVC_IDENTITY']) === 'keycloak'
  if (authUrl !== undefined && !isKeycloak)
    throw usageError('--auth-url: says where a Keycloak is, and none is used', '--idp keycloak --auth-url <url>')
  if (authUrl !== undefined && !isHttpUrl(authUrl))
    throw usageError(
      `--auth-url: invalid address "${authUrl}": use an http or https URL`,
      '--auth-url https://id.example.com',
    )
  if (isKeycloak && authUrl === undefined && !isSetIn(env, 'SVC_AUTH_URL'))
    throw usageError(
      '--idp keycloak: where Keycloak is has to be said',
      '--auth-url https://id.example.com, or SVC_AUTH_URL',
    )
  if (isKeycloak && !isSetIn(env, 'SVC_KEYCLOAK_CLIENT_SECRET'))
    throw usageError(
      '--idp keycloak: SVC_KEYCLOAK_CLIENT_SECRET is not set, nor SVC_KEYCLOAK_CLIENT_SECRET_FILE',
      'the secret of the client that examples/keycloak/set-up.sh makes; SVC_KEYCLOAK_CLIENT_ID where it is not svc-provisioner',
    )
  return { identity: idp, authUrl }
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

export function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535))
    throw usageError(`--port: invalid port "${text}": use 0 to 65535`, '--port 8080, or --port 0 for any free one')
  return port
}

/**
 * Anyone who knows the demo operator's login may do everything: it has no place where real money moves. Said before
 * anything else is asked for, and again of the configuration as it was read.
 * @throws {CliError} LIVE_MODE, exit code 2
 */
export function refuseLive({ mode }: { mode: string | undefined }): void {
  if (mode !== 'live') return
  throw new CliError(
    'LIVE_MODE',
    'svc up brings a demo merchant, operator and customer, which live mode must not have',
    {
      hint: 'svc migrate up\nsvc staff bootstrap\nthen, side by side: svc serve\nsvc worker',
    },
  )
}

/** @throws {CliError} INTERRUPTED, with the exit code of the signal */
export function refuseAborted(signal: AbortSignal): void {
  if (!signal.aborted) return
  throw new CliError('INTERRUPTED', 'interrupted while starting; what was started is stopped', {
    exit: exitOfSignal(signal.reason),
  })
}
