import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { packageRoot } from '../../../src/lib/package-root.ts'

/** One right of a role, as it is granted: on a whole table, or on one column of it. */
export const Grant = z.object({
  kind: z.enum(['table', 'sequence', 'function', 'schema']),
  object: z.string(),
  privilege: z.string(),
  columns: z.string().nullable(),
})
export type Grant = z.infer<typeof Grant>

/** What migrations grant to a role, each right once. A pending one has granted nothing yet. */
export async function grantedIn(migrations: readonly string[], role: string): Promise<Grant[]> {
  const files = migrations
    .filter((name) => /^(\d{4}_|functions\/)\w+$/.test(name))
    .map((name) => [name, 'sql'].join('.'))
  const read = (file: string): Promise<string> => readFile(join(packageRoot(), 'migrations', file), 'utf8')
  const texts = await Promise.all(files.map((file) => read(file).catch(() => '')))
  const grants = texts.flatMap((text) => grantsOf(text, role))
  return [...new Map(grants.map((grant) => [JSON.stringify(grant), grant])).values()]
}

function grantsOf(text: string, role: string): Grant[] {
  const statement = new RegExp(String.raw`^grant\s+([^;]+?)\s+on\s+([^;]+?)\s+to\s+${role}\s*;`, 'gim')
  return [...text.replaceAll(/--.*$/gm, '').matchAll(statement)].flatMap(([, privileges = '', objects = '']) => {
    const [, word = 'table', names = ''] = /^(?:(table|sequence|function|schema)\s+)?([^]+)$/i.exec(objects) ?? []
    const kind = Grant.shape.kind.parse(word.toLowerCase())
    return parts(names).flatMap((object) =>
      parts(privileges).flatMap((privilege) => rightsOn({ kind, object }, privilege)),
    )
  })
}

/** `update (a, b)` is one right for each column. */
function rightsOn({ kind, object }: Pick<Grant, 'kind' | 'object'>, text: string): Grant[] {
  const [, privilege = '', columns] = /^(\w+)\s*(?:\(([^)]*)\))?$/.exec(text) ?? []
  if (columns === undefined) return [{ kind, object, privilege, columns: null }]
  return columns.split(',').map((column) => ({ kind, object, privilege, columns: column.trim() }))
}

/** Between commas that stand in no brackets. */
function parts(text: string): string[] {
  return text.split(/,(?![^(]*\))/).map((part) => part.trim().replaceAll(/\s+/g, ' '))
}
