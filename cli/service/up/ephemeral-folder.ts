import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { sharedFolder, shortHash } from '../../../src/db/postgres-files.ts'
import { clearLeftovers } from '../../../src/db/postmaster.ts'
import { lockStateDirectory } from '../../../src/db/state-directory.ts'
import { isRunning } from '../../client/service-state.ts'

const PREFIX = 'svc-ephemeral-'
const NAME = /^svc-ephemeral-(?<pid>\d+)-/
/** Says that a folder is to stay when its process has ended. */
const KEPT = 'kept'

/** A state directory for one run, named after the process that it belongs to. */
export function makeEphemeralFolder({ isKept }: { isKept: boolean }): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`)))
  if (isKept) writeFileSync(join(folder, KEPT), '')
  return folder
}

/**
 * Takes away what crashed runs left: folders of this user whose process has ended and whose lock is free, with the
 * database that may outlive its svc. What can't be taken away stays, and fails nothing.
 */
export async function sweepEphemeralFolders(): Promise<void> {
  const parent = realpathSync(tmpdir())
  for (const name of readdirSync(parent)) {
    const pid = NAME.exec(name)?.groups?.['pid']
    if (pid === undefined || isRunning(Number(pid))) continue
    try {
      await sweep(join(parent, name))
    } catch {
      // Another run takes it away at this moment, or works in it.
    }
  }
}

async function sweep(folder: string): Promise<void> {
  if (!isOurs(folder) || existsSync(join(folder, KEPT))) return
  // A process that this one can't see, as that of another container, has its lock all the same.
  if (!existsSync(join(folder, 'svc.lock'))) return
  const unlock = lockStateDirectory(folder)
  try {
    const data = dataDirectoryOf(folder)
    if (data !== undefined) await clearLeftovers(data)
    removeEphemeralFolder(folder)
  } finally {
    unlock()
  }
}

/** Another user who may write there could name any folder as the database's. */
function isOurs(folder: string): boolean {
  const { uid, mode } = lstatSync(folder)
  return lstatSync(folder).isDirectory() && uid === process.getuid?.() && (mode & 0o022) === 0
}

export function removeEphemeralFolder(folder: string): void {
  for (const each of foldersOf(folder)) rmSync(each, { recursive: true, force: true })
}

/**
 * All folders that a run has written to. As root, the database's data lies elsewhere, where the server's own user can go;
 * a file of the directory says where.
 */
export function foldersOf(folder: string): string[] {
  const data = dataDirectoryOf(folder)
  return data === undefined || data.startsWith(`${folder}/`) ? [folder] : [dirname(data), folder]
}

/** How long the end of a process waits for its database, which was asked to end. */
const FAREWELL_MS = 2_000

/**
 * Takes the folder away also where the process ends without asking, as after an uncaught error. To be called once the
 * database runs, which is asked to end at the same moment. Returns the function that gives that up.
 */
export function removeAtExit(folder: string): () => void {
  const remove = (): void => {
    const data = dataDirectoryOf(folder)
    const lock = join(data ?? folder, 'postmaster.pid')
    // Nothing asynchronous can run any more; the server takes its file away as the last thing.
    const nothing = new Int32Array(new SharedArrayBuffer(4))
    for (const end = performance.now() + FAREWELL_MS; existsSync(lock) && performance.now() < end;)
      Atomics.wait(nothing, 0, 0, 10)
    removeEphemeralFolder(folder)
  }
  process.once('exit', remove)
  return () => void process.off('exit', remove)
}

const ServerState = z.object({ dataDirectory: z.string() })

/** Where its database is: in the folder, or in the one that the server's own user can enter. */
function dataDirectoryOf(folder: string): string | undefined {
  const file = join(folder, 'postgres.json')
  if (!existsSync(file)) return undefined
  const { dataDirectory } = ServerState.parse(JSON.parse(readFileSync(file, 'utf8')))
  const usual = [join(folder, 'postgres'), join(sharedFolder, shortHash(folder), 'postgres')]
  return usual.find((each) => each === dataDirectory)
}
