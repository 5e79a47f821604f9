import { ErrorBody } from '../src/wire/common.ts'
import type { Operation, OperationInput } from '../src/wire/operation.ts'
import type { Client } from './client.ts'
import { CliError } from './errors.ts'
import { EXIT, exitOfStatus } from './exit-codes.ts'
import { wordsFor } from './hints.ts'

type Refused = {
  client: Client
  operation: Operation
  input: OperationInput<Operation>
  status: number
  json: unknown
}

/** A refusal of the API, with the next step as a command; anything else that is no reply of the operation. */
export function refusalOf({ client, operation, input, status, json }: Refused): CliError {
  const parsed = ErrorBody.safeParse(json)
  if (!parsed.success) return notTheService(client, operation, status)
  const { error, code, type, request_id: requestId, errors, next } = parsed.data
  const { message, hint } = wordsFor({ who: client.credentials, operation, input, code, message: error, next })
  return new CliError(code, message, {
    exit: exitOfStatus(status),
    status,
    requestId,
    retryable: status === 429 || status >= 502,
    ...(URL.canParse(type) ? { docUrl: type } : {}),
    ...(errors === undefined ? {} : { fields: errors }),
    hint,
  })
}

function notTheService({ apiUrl }: Client, { method, path }: Operation, status: number): CliError {
  return new CliError('NOT_THE_SERVICE', `${apiUrl} answered ${status} to ${method} ${path}, not as svc does`, {
    exit: status >= 500 ? EXIT.failure : exitOfStatus(status < 400 ? 500 : status),
    status,
    retryable: status >= 500,
    hint: 'svc status; is the address right, and is the service of the same version?',
  })
}
