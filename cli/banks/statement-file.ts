import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { z } from 'zod'
import { setSoftwareStatement } from '../../src/wire/bank-connections.ts'
import { CliError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { parsedJson } from '../base/json.ts'
import type { Context } from '../kit/context.ts'

type Body = Omit<z.input<(typeof setSoftwareStatement)['body']>, 'reason'>

/** Members that name files. */
const PATHS = new Set(['ssa', 'cert', 'key'])

/** A software statement whose `ssa`, `cert` and `key` are paths, relative to the file, with their texts in their places. */
export async function readStatementFile({ io }: Context, file: string): Promise<Body> {
  const path = resolve(io.cwd, file)
  const form: unknown = parsedJson(await readText(path, file))
  const filled = await withTexts(form, dirname(path))
  const parsed = setSoftwareStatement.body.omit({ reason: true }).safeParse(filled)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw invalid(file, `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is not valid'}`)
}

async function withTexts(form: unknown, folder: string): Promise<unknown> {
  if (typeof form !== 'object' || form === null) return form
  const members = Object.entries(form).map(async ([name, value]): Promise<[string, unknown]> => {
    if (!PATHS.has(name) || typeof value !== 'string') return [name, await withTexts(value, folder)]
    const text = await readText(resolve(folder, value), name)
    return [name, name === 'ssa' ? text.trim() : text]
  })
  return Object.fromEntries(await Promise.all(members))
}

/** Names the member rather than its value, which may be a key in the wrong place. */
async function readText(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
    throw invalid(what, `can't read the file${code}`)
  }
}

function invalid(what: string, why: string): CliError {
  return new CliError('USAGE', `${what}: ${why}`, { exit: EXIT.usage })
}
