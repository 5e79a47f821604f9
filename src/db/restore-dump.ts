import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** A dump that can't be restored; the message says why, and what to do. */
export class DumpError extends Error {
  override readonly name = 'DumpError'

  /** Whether it is the dump that is wrong; where its file or a tool is missing, the system's error is the cause. */
  get isOfDump(): boolean {
    return this.cause === undefined
  }
}

export type DumpFormat = 'custom' | 'directory' | 'tar' | 'plain'

const HEAD_BYTES = 4_096
/** Where the name of the format stands in a tar archive. */
const TAR_MAGIC_AT = 257
const TAKE_ONE = 'Take one with pg_dump -Fc -f svc.dump "$SVC_MIGRATION_DATABASE_URL".'

/**
 * How pg_dump wrote the dump, by its first bytes.
 * @throws {DumpError} for what is no dump, or is compressed around it
 */
export async function formatOfDump(path: string): Promise<DumpFormat> {
  const missing = (cause: unknown): never => {
    throw new DumpError(`can't read ${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
  const found = await stat(path).catch(missing)
  if (found.isDirectory()) {
    const toc = await stat(join(path, 'toc.dat')).catch(() => undefined)
    if (toc === undefined) throw new DumpError(`${path} is a folder without toc.dat: not a dump. ${TAKE_ONE}`)
    return 'directory'
  }
  const file = await open(path).catch(missing)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    return formatOfHead(buffer.subarray(0, bytesRead), path)
  } finally {
    await file.close()
  }
}

function formatOfHead(head: Buffer, path: string): DumpFormat {
  if (head.length === 0) throw new DumpError(`${path} is empty: not a dump. ${TAKE_ONE}`)
  if (head.subarray(0, 5).toString('latin1') === 'PGDMP') return 'custom'
  if (head.subarray(TAR_MAGIC_AT, TAR_MAGIC_AT + 5).toString('latin1') === 'ustar') return 'tar'
  if (head.toString('utf8').includes('-- PostgreSQL database dump')) return 'plain'
  if (head[0] === 0x1f && head[1] === 0x8b) throw new DumpError(`${path} is compressed with gzip: gunzip it first.`)
  throw new DumpError(`${path} is not a dump of pg_dump. ${TAKE_ONE}`)
}

/**
 * What psql would take as a command of its own. Rows of COPY begin with a backslash only for \N, an escaped backslash, a
 * control character (\b \f \n \r \t \v) or their end, and pg_dump writes \restrict and \unrestrict for its safety.
 */
const COMMAND_OF_PSQL = /^\\(?![.N\\bfnrtvu])/

/** What pg_dump writes last, before \unrestrict: views, indexes and triggers come after all rows, and nothing misses them. */
const LAST_LINE = '-- PostgreSQL database dump complete'
const MAY_FOLLOW = /^(--|\\unrestrict .*)?$/

/**
 * psql runs a plain dump as a script: one that was made with -C or by pg_dumpall would leave the scratch database by \connect,
 * and drop or fill databases that are in use; one that was cut off ends without an error. It is read once before any of it is run.
 * @throws {DumpError} for a line that psql would not send to this database, or where the last line is missing
 */
async function rejectScript(path: string, signal: AbortSignal): Promise<void> {
  const lines = createInterface({ input: createReadStream(path, { encoding: 'latin1', signal }), crlfDelay: Infinity })
  let number = 0
  let isComplete = false
  for await (const line of lines) {
    number += 1
    isComplete = line === LAST_LINE || (isComplete && MAY_FOLLOW.test(line))
    if (!COMMAND_OF_PSQL.test(line)) continue
    const [command] = line.split(' ', 1)
    throw new DumpError(
      `${path}, line ${number}: ${command} is a command of psql, which can leave the scratch database. A dump made with -C or by ` +
        `pg_dumpall is not restored. ${TAKE_ONE}`,
    )
  }
  if (!isComplete) throw new DumpError(`${path} is cut off: it does not end with "${LAST_LINE}". ${TAKE_ONE}`)
}

export type RestoreDumpInput = {
  path: string
  databaseUrl: string
  format: DumpFormat
  /** Of the tools, which are found by its PATH. */
  env: NodeJS.ProcessEnv
}

/**
 * Restores a dump into an empty database, without its owners and rights, which are roles of the server it came from.
 * @throws {DumpError} where the tool is missing, or the server rejects a part of the dump
 */
export async function restoreDump(
  { path, databaseUrl, format, env }: RestoreDumpInput,
  signal: AbortSignal,
): Promise<void> {
  const { url, password } = withoutPassword(databaseUrl)
  if (format === 'plain') await rejectScript(path, signal)
  const [tool, args] =
    format === 'plain'
      ? (['psql', ['-X', '-q', '-v', 'VERBOSITY=verbose', '-o', '/dev/null', '-d', url, '-f', path]] as const)
      : (['pg_restore', ['--no-owner', '--no-privileges', '--exit-on-error', '-d', url, path]] as const)
  const { code, failure } = await run(tool, args, { env: { ...env, ...password, LC_ALL: 'C' }, signal })
  // psql goes on after an error, and ends with 0.
  if (code === 0 && failure === undefined) return
  throw new DumpError(
    `${tool} could not restore ${path}: ${failure ?? `it ended with ${code}`}. Tools and server must be of the version of ` +
      'the pg_dump that wrote it, or newer.',
  )
}

/** What the server says is in the language of its lc_messages, and known by its SQLSTATE: success and warnings are none. */
const FAILURE_OF_SERVER = /^psql:.*:\d+: [^:]+: {2}(?!0[0-2])[\dA-Z]{5}: /
const FAILURE_OF_TOOL = /^\w+:.*\berror: /

/**
 * A plain dump sets owners and rights: that their roles are missing on another server is no failure. Other objects that are
 * missing have the same SQLSTATE, and differ in the place in the server, which psql prints below.
 */
const OBJECT_MISSING = /: {2}42704: /
const IN_SEARCH_OF_ROLE = /: {2}get_role\w*, /

async function firstFailure(lines: AsyncIterable<string>): Promise<string | undefined> {
  let failure: string | undefined
  let above = ''
  for await (const line of lines) {
    if (above === failure && OBJECT_MISSING.test(above) && IN_SEARCH_OF_ROLE.test(line)) failure = undefined
    else if (FAILURE_OF_SERVER.test(line) || FAILURE_OF_TOOL.test(line)) failure ??= line
    above = line
  }
  return failure
}

/** Every user of the machine can read the arguments of a process, and not its environment. */
function withoutPassword(databaseUrl: string): { url: string; password: Record<string, string> } {
  const url = new URL(databaseUrl)
  const password = decodeURIComponent(url.password)
  url.password = ''
  return { url: url.href, password: password === '' ? {} : { PGPASSWORD: password } }
}

async function run(
  tool: string,
  args: readonly string[],
  options: { env: NodeJS.ProcessEnv; signal: AbortSignal },
): Promise<{ code: number | null; failure: string | undefined }> {
  const child = spawn(tool, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] })
  const failure = firstFailure(createInterface({ input: child.stderr, crlfDelay: Infinity }))
  try {
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, failure: await failure }
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (!isMissing) throw error
    throw new DumpError(`${tool} is not installed. Install the client tools of PostgreSQL (postgresql-client).`, {
      cause: error,
    })
  }
}
