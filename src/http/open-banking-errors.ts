import type { DomainError, ErrorCode, FieldError } from '../lib/errors.ts'
import { OPEN_BANKING_PATH } from '../wire/open-banking.ts'
import type { ErrorResponse } from '../wire/open-banking.ts'
import { ERROR_STATUS } from './error-status.ts'

/**
 * Whether a request's address is one of the Open Banking API, which has its own error body (decision 10). Ignores case, as
 * the router does.
 */
export function isOpenBanking(url: string | undefined): boolean {
  return url?.slice(0, PREFIX.length).toLowerCase() === PREFIX
}

const PREFIX = `${OPEN_BANKING_PATH}/`

/**
 * The status of an error on this surface: as on Surface B, except for an idempotency key used with another body
 * (decision 12).
 */
export function openBankingStatus(code: ErrorCode): number {
  return code === 'IDEMPOTENCY_KEY_REUSED' ? 409 : ERROR_STATUS[code]
}

/** OBErrorResponse1 (decision 10): every invalid field at once. `id` is the interaction id, which the response repeats. */
export function openBankingError(
  error: DomainError,
  { id, publicUrl }: { id: string; publicUrl: string },
): ErrorResponse {
  const status = openBankingStatus(error.code)
  const url = `${publicUrl}/errors/${error.code.toLowerCase().replaceAll('_', '-')}`
  const fields = error.errors ?? []
  const next = error.next === undefined ? '' : `; ${error.next}`
  return {
    Code: `${status} ${NAMES[status] ?? 'Error'}`,
    Id: id,
    Message: clipped(error.message),
    Errors:
      fields.length > 0
        ? fields.map((field) => ({
            ErrorCode: fieldCode(field),
            Message: clipped(field.message),
            ...(field.path === '' ? {} : { Path: clipped(field.path) }),
            Url: url,
          }))
        : [{ ErrorCode: codeOf(error.code), Message: clipped(`${error.message}${next}`), Url: url }],
  }
}

/** Maximum length of a text in OBErrorResponse1. */
const TEXT_MAX = 500

function clipped(text: string): string {
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX - 1)}…` : text
}

/** The message of each status (decision 11), as in OBIE's examples. */
const NAMES: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  413: 'PayloadTooLarge',
  415: 'UnsupportedMediaType',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
}

const FIELD_CODES: Readonly<Record<string, string>> = {
  REQUIRED: 'UK.OBIE.Field.Missing',
  UNKNOWN_FIELD: 'UK.OBIE.Field.Unexpected',
  INVALID_DATE: 'UK.OBIE.Field.InvalidDate',
  UNSUPPORTED_CURRENCY: 'UK.OBIE.Unsupported.Currency',
  UNSUPPORTED_SCHEME: 'UK.OBIE.Unsupported.Scheme',
  UNSUPPORTED_FREQUENCY: 'UK.OBIE.Unsupported.Frequency',
  UNSUPPORTED_ACCOUNT_IDENTIFIER: 'UK.OBIE.Unsupported.AccountIdentifier',
}

function fieldCode({ path, code }: FieldError): string {
  // No field of this surface is spelled like a header.
  if (path.startsWith('x-')) return code === 'REQUIRED' ? 'UK.OBIE.Header.Missing' : 'UK.OBIE.Header.Invalid'
  return FIELD_CODES[code] ?? 'UK.OBIE.Field.Invalid'
}

function codeOf(code: ErrorCode): string {
  const known = CODES[code]
  if (known !== undefined) return known
  const status = openBankingStatus(code)
  if (status === 404) return 'UK.OBIE.Resource.NotFound'
  if (status === 409) return 'UK.OBIE.Rules.ResourceAlreadyExists'
  return status >= 500 ? 'UK.OBIE.UnexpectedError' : 'UK.OBIE.Field.Invalid'
}

const CODES: Readonly<Partial<Record<ErrorCode, string>>> = {
  INVALID_JSON: 'UK.OBIE.Resource.InvalidFormat',
  BODY_TOO_LARGE: 'UK.OBIE.Resource.InvalidFormat',
  METHOD_NOT_ALLOWED: 'UK.OBIE.Resource.InvalidFormat',
  UNSUPPORTED_MEDIA_TYPE: 'UK.OBIE.Header.Invalid',
  NOT_ACCEPTABLE: 'UK.OBIE.Header.Invalid',
  UNAUTHENTICATED: 'UK.OBIE.Header.Invalid',
  TOKEN_EXPIRED: 'UK.OBIE.Header.Invalid',
  UNKNOWN_CLIENT: 'UK.OBIE.Header.Invalid',
  HTTPS_REQUIRED: 'UK.OBIE.Header.Invalid',
  FORBIDDEN_SCOPE: 'UK.OBIE.Reauthenticate',
  FORBIDDEN_ROLE: 'UK.OBIE.Reauthenticate',
  WRONG_REALM: 'UK.OBIE.Reauthenticate',
  RATE_LIMITED: 'UK.OBIE.Rules.FailsControlParameters',
}
