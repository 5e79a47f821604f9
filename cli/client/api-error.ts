import { ErrorBody } from '../../src/wire/common.ts'
import { ErrorResponse } from '../../src/wire/open-banking.ts'
import type { Operation, OperationInput } from '../../src/wire/operation.ts'
import type { Client } from './call.ts'
import { CliError, joinedFields } from '../base/errors.ts'
import { EXIT, exitOfStatus } from '../base/exit-codes.ts'
import { wordsFor } from './error-hints.ts'
import { refusedCode } from './refused-code.ts'

type Refused = {
  client: Client
  operation: Operation
  input: OperationInput<Operation>
  status: number
  json: unknown
}

/** A refusal of the API, with the next step as a command; anything else that is no reply of the operation. */
export function refusalOf(refused: Refused): CliError {
  const { client, operation, input, status, json } = refused
  const parsed = ErrorBody.safeParse(json)
  if (!parsed.success) return openBankingRefusal(refused) ?? notTheService(client, operation, status)
  const { error, code, type, request_id: requestId, errors, next, next_step: step, available } = parsed.data
  const failed = { operation, input, code, message: error, next, nextStep: step?.operation, available }
  const { message, hint } = wordsFor({ who: client.credentials, ...failed })
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

/**
 * A refusal of the Open Banking API (OBErrorResponse1): its own codes for programs, and next steps by the code that the
 * addresses in it name. A field's path tells it from a refusal of the whole.
 */
function openBankingRefusal({ client, operation, input, status, json }: Refused): CliError | undefined {
  const { data } = ErrorResponse.safeParse(json)
  const [first] = data?.Errors ?? []
  if (data === undefined || first === undefined) return undefined
  const { Message: said, Id: requestId, Errors: errors } = data
  const fields = errors.flatMap(({ ErrorCode, Message, Path }) =>
    Path === undefined ? [] : [{ path: Path, code: ErrorCode, message: Message }],
  )
  // The whole's own message goes on with the API's advice, which the answer's message is without.
  const advice = first.Message.startsWith(`${said}; `) ? first.Message.slice(said.length + 2) : undefined
  const told = fields.length === 0 ? said : joinedFields(fields)
  const code = refusedCode(json) ?? ''
  const { message, hint } = wordsFor({ who: client.credentials, operation, input, code, message: told, next: advice })
  return new CliError(first.ErrorCode, message, {
    exit: status === 503 ? EXIT.network : exitOfStatus(status),
    status,
    requestId,
    retryable: status === 429 || status >= 502,
    ...(first.Url !== undefined && URL.canParse(first.Url) ? { docUrl: first.Url } : {}),
    ...(fields.length === 0 ? {} : { fields }),
    hint,
  })
}

function notTheService({ apiUrl }: Client, { method, path }: Operation, status: number): CliError {
  return new CliError('NOT_THE_SERVICE', `${apiUrl} answered ${status} to ${method} ${path}, not as svc does`, {
    exit: status >= 500 ? EXIT.failure : exitOfStatus(status < 400 ? 500 : status),
    status,
    retryable: status >= 500,
    hint: 'svc status\nis the address right, and is the service of the same version?',
  })
}
