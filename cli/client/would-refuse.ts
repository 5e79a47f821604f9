import type { FieldError } from '../../src/lib/errors.ts'
import type { Operation, OperationInput } from '../../src/wire/operation.ts'
import type { Client } from './call.ts'
import { CliError } from '../base/errors.ts'
import { exitOfStatus } from '../base/exit-codes.ts'
import { wordsFor } from './error-hints.ts'

type Refusal = { code: string; status: number; message: string; next?: string; fields?: readonly FieldError[] }

/** What the service would answer to a request that is only shown: the same code, exit code and next step. */
export function wouldRefuse<O extends Operation>(
  client: Client,
  operation: O,
  { input, refusal }: { input: OperationInput<O>; refusal: Refusal },
): CliError {
  const { code, status, fields, next } = refusal
  const told = { who: client.credentials, operation, input, code, message: refusal.message, next }
  const { message, hint } = wordsFor(told)
  return new CliError(code, message, { exit: exitOfStatus(status), hint, ...(fields === undefined ? {} : { fields }) })
}
