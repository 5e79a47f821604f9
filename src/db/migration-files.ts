import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { packageRoot } from '../lib/package-root.ts'
import { MigrationError } from './migration-errors.ts'

/** A SQL file of the migrations folder. */
export type MigrationFile = {
  /** `0002_merchants`, or `functions/money_text`: the path in the folder without `.sql`. */
  name: string
  kind: 'migration' | 'function'
  text: string
  /** SHA-256 of the text in hex, the same whatever line ends a checkout has. */
  sha256: string
  /** The names in the `-- needs:` lines of its header. */
  needs: readonly string[]
}

const MIGRATION = /^\d{4}_[a-z0-9_]+\.sql$/
const FUNCTION = /^[a-z][a-z0-9_]*\.sql$/
const SUFFIX = '.sql'
const NEEDS = /^-- needs:(?<names>.*)$/

/**
 * Reads the migrations (`0002_merchants.sql`) and functions (`functions/money_text.sql`) of a folder and returns them in
 * the order in which an empty database gets them: migrations by their number, each after the functions that it needs, and
 * then the other functions, each after what it needs. Other files, such as a README or an editor's backup, are ignored.
 * @throws {MigrationError} where a file needs one that does not exist, or files need each other in a circle
 */
export async function readMigrationFiles(
  folder: string = join(packageRoot(), 'migrations'),
): Promise<readonly MigrationFile[]> {
  const [migrations, functions] = await Promise.all([
    readKind(folder, 'migration'),
    readKind(join(folder, 'functions'), 'function').catch(emptyIfMissing),
  ])
  return inOrder(migrations, functions)
}

/** The file of a name, for messages. */
export function pathOf(name: string): string {
  return `migrations/${name}${SUFFIX}`
}

async function readKind(folder: string, kind: MigrationFile['kind']): Promise<MigrationFile[]> {
  const pattern = kind === 'migration' ? MIGRATION : FUNCTION
  const names = (await readdir(folder)).filter((name) => pattern.test(name)).toSorted()
  return Promise.all(names.map((name) => readMigrationFile(join(folder, name), kind)))
}

async function readMigrationFile(path: string, kind: MigrationFile['kind']): Promise<MigrationFile> {
  const text = (await readFile(path, 'utf8')).replaceAll('\r\n', '\n')
  const name = basename(path, SUFFIX)
  return {
    name: kind === 'migration' ? name : `functions/${name}`,
    kind,
    text,
    sha256: createHash('sha256').update(text).digest('hex'),
    needs: needsOf(text),
  }
}

function emptyIfMissing(error: unknown): MigrationFile[] {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
  throw error
}

/** The names in the comment at the top of a file. */
function needsOf(text: string): string[] {
  const lines = text.split('\n')
  const end = lines.findIndex((line) => !line.startsWith('--'))
  return lines
    .slice(0, end === -1 ? lines.length : end)
    .flatMap((line) => NEEDS.exec(line)?.groups?.['names']?.split(',') ?? [])
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

function inOrder(migrations: readonly MigrationFile[], functions: readonly MigrationFile[]): MigrationFile[] {
  const files = new Map([...migrations, ...functions].map((file) => [file.name, file]))
  const ordered = new Set<MigrationFile>()

  function visit(file: MigrationFile, path: readonly string[]): void {
    if (ordered.has(file)) return
    const circle = [...path.slice(path.indexOf(file.name)), file.name]
    if (path.includes(file.name))
      throw new MigrationError(
        `The migrations need each other in a circle: ${circle.join(' needs ')}. A migration also needs the one with the ` +
          'number before it. Remove a name from a "-- needs:" line, for example by creating a trigger in the file of its function.',
      )
    const before = file.kind === 'migration' ? migrations[migrations.indexOf(file) - 1] : undefined
    if (before !== undefined) visit(before, [...path, file.name])
    for (const name of file.needs) visit(needed(file, name), [...path, file.name])
    ordered.add(file)
  }

  function needed(file: MigrationFile, name: string): MigrationFile {
    const found = files.get(name)
    if (found !== undefined) return found
    throw new MigrationError(
      `${pathOf(file.name)} needs ${name}, but there is no ${pathOf(name)}. Correct its "-- needs:" line.`,
    )
  }

  for (const file of [...migrations, ...functions]) visit(file, [])
  return [...ordered]
}

/** The line of a file that the server points at, with the one before it. */
export function excerptOf({ name, text }: MigrationFile, position: string | undefined): string {
  if (position === undefined) return pathOf(name)
  const lines = text.slice(0, Number(position) - 1).split('\n')
  const column = lines.at(-1)?.length ?? 0
  const excerpt = text.split('\n').slice(Math.max(lines.length - 2, 0), lines.length)
  return [`${pathOf(name)}:${lines.length}:`, ...excerpt, `${' '.repeat(column)}^^^^`].join('\n')
}
