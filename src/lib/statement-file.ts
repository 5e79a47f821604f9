import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { Pkcs12Error, readPkcs12 } from './pkcs12.ts'

/** A member of the file can't be used. Names the member, not its value: a key could be written in place of its path. */
export class StatementFileError extends Error {
  override readonly name = 'StatementFileError'
  /** Such as `transport.key`; `file` for the file itself. */
  readonly field: string
  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

/** Members that name files, relative to the statement's. */
const PATHS = new Set(['ssa', 'cert', 'key'])

type Members = Readonly<Record<string, unknown>>

/**
 * Reads a file of a software statement, with the texts of the files that it names in their places, and those of a PKCS#12
 * file as `cert` and `key`. What is in it is not checked.
 * @throws {StatementFileError}
 */
export async function readStatementFile(path: string): Promise<unknown> {
  const text = (await readBytes(path, 'file')).toString('utf8')
  return fill(parseJson(text), { folder: dirname(path), field: '' })
}

type Place = { folder: string; field: string }

async function fill(value: unknown, place: Place): Promise<unknown> {
  if (typeof value !== 'object' || value === null) return value
  const members: Members = 'pkcs12' in value ? await fromPkcs12({ ...value }, place) : { ...value }
  const filled = Object.entries(members).map(async ([name, member]): Promise<[string, unknown]> => {
    const field = place.field === '' ? name : `${place.field}.${name}`
    if (!PATHS.has(name) || typeof member !== 'string' || 'pkcs12' in value)
      return [name, await fill(member, { ...place, field })]
    const text = (await readBytes(resolve(place.folder, member), field)).toString('utf8')
    return [name, name === 'ssa' ? text.trim() : text]
  })
  return Object.fromEntries(await Promise.all(filled))
}

/** Without a `passphrase_file`, the passphrase is empty. */
async function fromPkcs12(
  { pkcs12, passphrase_file: passphraseFile, ...others }: Members,
  { folder, field }: Place,
): Promise<Members> {
  const read = (path: unknown, name: string): Promise<Buffer> =>
    readBytes(resolve(folder, String(path)), `${field}.${name}`)
  if ('cert' in others || 'key' in others)
    throw new StatementFileError(`${field}.pkcs12`, 'stands in place of cert and key')
  const passphrase =
    passphraseFile === undefined
      ? ''
      : (await read(passphraseFile, 'passphrase_file')).toString('utf8').replace(/\r?\n$/, '')
  try {
    const { cert, key } = readPkcs12(await read(pkcs12, 'pkcs12'), passphrase)
    return field === 'signing' ? { ...others, key } : { ...others, cert, key }
  } catch (error) {
    if (error instanceof Pkcs12Error) throw new StatementFileError(`${field}.pkcs12`, error.message)
    throw error
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new StatementFileError('file', 'is not valid JSON')
  }
}

async function readBytes(path: string, field: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
    throw new StatementFileError(field, `cannot read the file${code}`)
  }
}
