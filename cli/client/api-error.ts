import type { FieldError } from '../../src/lib/errors.ts'
import { ErrorBody } from '../../src/wire/common.ts'
import { ErrorResponse } from '../../src/wire/open-banking.ts'
import type { Operation, OperationInput } from '../../src/wire/operation.ts'
import { CliError, joinedFields } from '../base/errors.ts'
import { EXIT, exitOfStatus } from '../base/exit-codes.ts'
import type { Client } from './call.ts'
import { hintFor } from './error-hints.ts'
import type { FailedCall } from './error-hints.ts'

type Refused = {
  client: Client
  operation: Operation
  input: OperationInput<Operation>
  status: number
  json: unknown
}

type Said = Omit<FailedCall, 'who' | 'operation' | 'input'> & {
  shown: string
  message: string
  requestId: string
  page: string | undefined
  fields: readonly FieldError[]
}

export function refusalOf({ client, operation, input, status, json }: Refused): CliError {
  const said = ownRefusal(json) ?? openBankingRefusal(json)
  if (said === undefined) return notTheService(client, operation, status)
  const { shown, message, requestId, page, fields } = said
  return new CliError(shown, message, {
    exit: status === 503 && shown !== said.code ? EXIT.network : exitOfStatus(status),
    status,
    requestId,
    retryable: status === 429 || status >= 502,
    ...(page !== undefined && URL.canParse(page) ? { docUrl: page } : {}),
    ...(fields.length === 0 ? {} : { fields }),
    hint: hintFor({ who: client.credentials, operation, input, ...said }),
  })
}

function ownRefusal(json: unknown): Said | undefined {
  const { data } = ErrorBody.safeParse(json)
  if (data === undefined) return undefined
  const { error: message, code, type: page, request_id: requestId, errors: fields = [], next, available } = data
  return { shown: code, code, message, requestId, page, fields, next, nextStep: data.next_step?.operation, available }
}

/** Of the Open Banking API (OBErrorResponse1). A field's path distinguishes it from an error of the whole request. */
function openBankingRefusal(json: unknown): Said | undefined {
  const { data } = ErrorResponse.safeParse(json)
  const [first] = data?.Errors ?? []
  if (data === undefined || first === undefined) return undefined
  const { Id: requestId, Errors: errors } = data
  const fields = errors.flatMap(({ ErrorCode, Message, Path }) =>
    Path === undefined ? [] : [{ path: Path, code: ErrorCode, message: Message }],
  )
  const message = fields.length === 0 ? first.Message : joinedFields(fields)
  return { shown: first.ErrorCode, code: refusedCode(json) ?? '', message, requestId, page: first.Url, fields }
}

function notTheService({ apiUrl }: Client, { method, path }: Operation, status: number): CliError {
  return new CliError('NOT_THE_SERVICE', `${apiUrl} answered ${status} to ${method} ${path}, not as svc does`, {
    exit: status >= 500 ? EXIT.failure : exitOfStatus(status < 400 ? 500 : status),
    status,
    retryable: status >= 500,
    hint: 'svc status\nis the address right, and is the service of the same version?',
  })
}

/**
 * The service's own code of a refusal, of either form. Where its place is taken by OBIE's codes, the address of the
 * error's page says it. Undefined where nothing does.
 */
export function refusedCode(json: unknown): string | undefined {
  const known = ErrorBody.safeParse(json).data?.code
  if (known !== undefined) return known
  const page = /\/errors\/([a-z0-9-]+)$/.exec(ErrorResponse.safeParse(json).data?.Errors[0]?.Url ?? '')?.[1]
  return page?.toUpperCase().replaceAll('-', '_')
}
