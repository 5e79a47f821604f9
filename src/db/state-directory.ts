import { chownSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { z } from 'zod'

/** The state directory cannot be used; the message says why and what to do. */
export class StateDirectoryError extends Error {
  override readonly name = 'StateDirectoryError'
}

const reasons: Readonly<Record<string, string>> = {
  EROFS: 'the file system is read-only',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENOTDIR: 'a part of the path is a file, not a directory',
  EEXIST: 'it is a file, not a directory',
  EISDIR: 'a directory is where a file is expected',
  EIO: 'the disk reports an error',
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** Turns an error of the file system into a StateDirectoryError. */
export const stateDirectoryError = (stateDir: string, error: unknown): StateDirectoryError => {
  const reason = reasons[codeOf(error)] ?? (error instanceof Error ? error.message : String(error))
  return new StateDirectoryError(
    `The state directory ${stateDir} cannot be used: ${reason}. ` +
      'Choose another with --state-dir, or use an existing PostgreSQL with SVC_DATABASE_URL.',
    { cause: error },
  )
}

const requireDirectory = (stateDir: string): void => {
  if (!statSync(stateDir).isDirectory()) throw Object.assign(new Error('not a directory'), { code: 'EEXIST' })
}

/**
 * Creates the state directory if it is missing and returns its real path. Its secrets are in files of
 * mode 0600. Other users may not list it, but may pass through: when svc runs as root, the server's own user
 * has to reach its data below.
 */
export const prepareStateDirectory = (stateDir: string): string => {
  try {
    mkdirSync(stateDir, { recursive: true, mode: 0o711 })
    requireDirectory(stateDir)
    return realpathSync(stateDir)
  } catch (error) {
    throw stateDirectoryError(stateDir, error)
  }
}

// SQLite's result code for a lock that another connection holds.
const sqliteBusy = 5

/**
 * Locks the state directory for this process and returns the function that unlocks it. The lock is the
 * operating system's (SQLite's exclusive file lock), so it cannot outlive the process, however it ends.
 * Throws StateDirectoryError while another process, or another start in this one, holds it.
 */
export const lockStateDirectory = (stateDir: string): (() => void) => lockFileOf(stateDir, 'svc.lock')

/** The same with a lock of its own, for work that one process at a time may do beside a running service. */
export const lockFileOf = (stateDir: string, name: string): (() => void) => {
  try {
    // For a file in the directory's place, SQLite only reports that it can't open its own file.
    requireDirectory(stateDir)
    const lock = new DatabaseSync(join(stateDir, name))
    lock.exec('begin exclusive')
    return () => {
      if (lock.isOpen) lock.close()
    }
  } catch (error) {
    if (!(error instanceof Error && 'errcode' in error)) throw stateDirectoryError(stateDir, error)
    if (error.errcode !== sqliteBusy) {
      throw stateDirectoryError(stateDir, Object.assign(new Error(error.message), { code: 'EACCES' }))
    }
    throw new StateDirectoryError(
      `Another svc is using the state directory ${stateDir}. Stop it first, or choose another with --state-dir.`,
      { cause: error },
    )
  }
}

const ServerState = z.object({
  /** The server's superuser's password; the only secret here. */
  password: z.string().regex(/^[0-9a-f]{32,}$/),
  port: z.int().min(1).max(65_535).nullable(),
  dataDirectory: z.string().min(1),
})
export type ServerState = z.infer<typeof ServerState>

const stateFile = (stateDir: string): string => join(stateDir, 'postgres.json')

/** The state of the last start, or null on the first one. Throws StateDirectoryError on an unreadable file. */
export const readServerState = (stateDir: string): ServerState | null => {
  try {
    return ServerState.parse(JSON.parse(readFileSync(stateFile(stateDir), 'utf8')))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    if (codeOf(error) !== '') throw stateDirectoryError(stateDir, error)
    throw new StateDirectoryError(
      `${stateFile(stateDir)} is damaged: it holds the password of the database beside it. Restore it from a ` +
        'backup, or remove the state directory (all its data with it) to start again.',
      { cause: error },
    )
  }
}

/**
 * Keeps the state in a file that only the directory's owner can read. Its password is nowhere else: whatever the moment of a
 * crash, and on a full disk, the file has the state of before or all of the new one.
 */
export const writeServerState = (stateDir: string, state: ServerState): void => {
  const file = stateFile(stateDir)
  const draft = `${file}.new`
  try {
    // What a crash left may belong to another user.
    rmSync(draft, { force: true })
    writeFileSync(draft, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600, flush: true })
    if (process.getuid?.() === 0) {
      // A start as root must not lock the directory's owner out of the next one.
      const { uid, gid } = statSync(stateDir)
      chownSync(draft, uid, gid)
    }
    renameSync(draft, file)
  } catch (error) {
    throw stateDirectoryError(stateDir, error)
  }
}
