import { randomUUID } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { z } from 'zod'
import type { SavedAuthority } from './certificates.ts'
import type { Books } from './books.ts'
import type { SavedDirectory } from './directory.ts'
import type { Answers } from './idempotency.ts'
import type { ProtocolRows } from './protocol-state.ts'
import type { SavedKey } from './signing-keys.ts'

const NAME = 'bank-state.bin'
const PRIVATE_FILE = 0o600
/** Requests that come together are saved together. */
const SAVE_AFTER_MS = 20

/** What a bank needs to be the same bank after a restart, with its keys and its books. */
export type SavedState = {
  issuer: string
  authority: SavedAuthority
  directory: SavedDirectory
  signingKey: SavedKey
  messageKeys: SavedKey[]
  books: Books
  answers: Answers
  protocol: ProtocolRows
}

/** The form is Node's own, which keeps maps and what refers to the same account. Only this bank writes it. */
const State = z.custom<SavedState>((value) => typeof value === 'object' && value !== null && 'issuer' in value)

/** The state of the bank that ran in this folder before; undefined where there is none, or one with another address. */
export async function readState(dir: string, issuer: string): Promise<SavedState | undefined> {
  const bytes = await readFile(join(dir, NAME)).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  })
  if (bytes === undefined) return undefined
  const state = State.parse(deserialize(bytes))
  return state.issuer === issuer ? state : undefined
}

export type StateFile = {
  /** Saves soon. */
  touch(): void
  /** Resolves once the state of now is saved. Requests that come together share one save. */
  saved(): Promise<void>
  /** Saves now, and no more. */
  close(): Promise<void>
}

export function makeStateFile(dir: string, state: () => SavedState): StateFile {
  const file = join(dir, NAME)
  const draft = `${file}.${randomUUID()}`
  let timer: NodeJS.Timeout | undefined
  let writing = Promise.resolve()
  /** A save that has not begun yet, and will have in it what has changed until then. */
  let next: Promise<void> | undefined
  let isClosed = false
  const save = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    // One after the other, also after one that failed: two writers of the same file would mix. Another bank in the folder
    // has a draft of its own.
    next ??= writing = writing
      .catch(() => undefined)
      .then(async () => {
        next = undefined
        await writeFile(draft, serialize(state()), { mode: PRIVATE_FILE })
        await rename(draft, file)
      })
    return next
  }
  return {
    touch: () => {
      if (isClosed) return
      // The next answer saves as well, and is refused if that fails.
      timer ??= setTimeout(() => void save().catch(() => undefined), SAVE_AFTER_MS)
    },
    saved: async () => {
      if (!isClosed) await save()
    },
    close: async () => {
      if (isClosed) return
      isClosed = true
      await save()
    },
  }
}
