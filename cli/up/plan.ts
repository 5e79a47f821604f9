import { usageError } from '../errors.ts'

/** What a start is to do, all of it decided before anything begins. */
export type UpPlan = {
  stateDir: string
  /** 0 for any free one. */
  port: number
  /** `url` is undefined when the environment names the outside database. */
  database: { kind: 'embedded' } | { kind: 'outside'; url: string | undefined }
  /** Who proves identities; undefined where the environment, or the default, decides. */
  identity: 'embedded' | 'none' | undefined
  env: NodeJS.ProcessEnv
  /** How much the service logs unless SVC_LOG_LEVEL says otherwise. */
  logLevel: 'warn' | 'info'
  /** A line for people. */
  note(line: string): void
}

/** Decides which database to use: the flag first, then SVC_DATABASE_URL, then our own. */
export function databaseOf(flag: string | undefined, env: NodeJS.ProcessEnv): UpPlan['database'] {
  if (flag === 'embedded') return { kind: 'embedded' }
  if (flag !== undefined && !/^postgres(ql)?:\/\//.test(flag)) {
    throw usageError(
      '--db: must be embedded or a postgres:// address',
      '--db postgres://user:password@127.0.0.1:5432/svc',
    )
  }
  if (flag !== undefined) return { kind: 'outside', url: flag }
  const isNamed = (env['SVC_DATABASE_URL'] ?? '') !== '' || (env['SVC_DATABASE_URL_FILE'] ?? '') !== ''
  return isNamed ? { kind: 'outside', url: undefined } : { kind: 'embedded' }
}

/** A port of `--port`: 0 to 65535. */
export function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535)) throw usageError(`--port: "${text}" is no port`, '--port 8080, or --port 0 for any free one')
  return port
}
