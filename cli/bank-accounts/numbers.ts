import { z } from 'zod'
import { usageError } from '../base/errors.ts'
import type { Io } from '../base/io.ts'
import { parsedJson } from '../base/json.ts'

const INPUT_BYTES_MAX = 4_096

const Numbers = z.strictObject({ sort_code: z.string(), account_number: z.string(), iban: z.string().optional() })
export type Numbers = z.infer<typeof Numbers>

/**
 * The numbers of an account: asked for at a terminal, or JSON on standard input.
 * @throws {CliError} exit code 2; the message repeats nothing of what was read
 */
export async function readNumbers(io: Io, { stdin }: { stdin: boolean }): Promise<Numbers> {
  if (stdin) return readJson(io)
  if (!io.stdin.isTTY || !io.stderr.isTTY) {
    throw usageError(
      'there is no terminal to ask for the numbers at',
      'svc bank-accounts create --holder "..." --stdin < account.json',
    )
  }
  const sort_code = await ask(io, 'Sort code: ')
  const account_number = await ask(io, 'Account number: ')
  const iban = await ask(io, 'IBAN (Enter for none): ')
  return iban === '' ? { sort_code, account_number } : { sort_code, account_number, iban }
}

async function ask(io: Io, question: string): Promise<string> {
  io.stderr.write(question)
  const answer = await io.stdin.readLine()
  if (answer === undefined) throw usageError('the input ended before all numbers were given; nothing was changed')
  return answer.trim()
}

async function readJson(io: Io): Promise<Numbers> {
  const text = (await io.stdin.read(INPUT_BYTES_MAX)).toString('utf8')
  const parsed = Numbers.safeParse(parsedJson(text))
  if (parsed.success) return parsed.data
  throw usageError(
    'standard input must be one JSON object of strings: sort_code, account_number and perhaps iban',
    `echo '{"sort_code":"12-34-56","account_number":"12345678"}' is the form`,
  )
}
