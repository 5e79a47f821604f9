import { resolve } from 'node:path'
import type { z } from 'zod'
import { StatementFileError, readStatementFile } from '../../src/lib/statement-file.ts'
import { setSoftwareStatement } from '../../src/wire/bank-connections.ts'
import { CliError } from '../base/errors.ts'
import type { Context } from '../kit/context.ts'

type Body = Omit<z.input<(typeof setSoftwareStatement)['body']>, 'reason'>

export async function readStatement({ io }: Context, file: string): Promise<Body> {
  const form = await readStatementFile(resolve(io.cwd, file)).catch((error: unknown) => {
    if (!(error instanceof StatementFileError)) throw error
    throw invalid(error.field === 'file' ? file : error.field, error.message)
  })
  const parsed = setSoftwareStatement.body.omit({ reason: true }).safeParse(form)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw invalid(file, `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is not valid'}`)
}

function invalid(what: string, why: string): CliError {
  return new CliError('USAGE', `${what}: ${why}`)
}
