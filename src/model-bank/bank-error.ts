/** The codes of the Read/Write profile with their status, and what version 4.0 abbreviates them to. */
const CODES = {
  'UK.OBIE.Field.Expected': [400, 'U001'],
  'UK.OBIE.Field.Invalid': [400, 'U002'],
  'UK.OBIE.Field.Missing': [400, 'U004'],
  'UK.OBIE.Field.Unexpected': [400, 'U005'],
  'UK.OBIE.Header.Invalid': [400, 'U006'],
  'UK.OBIE.Header.Missing': [400, 'U007'],
  'UK.OBIE.Resource.ConsentMismatch': [400, 'U008'],
  'UK.OBIE.Resource.InvalidConsentStatus': [400, 'U009'],
  'UK.OBIE.Resource.InvalidFormat': [400, 'U010'],
  'UK.OBIE.Resource.NotFound': [400, 'U011'],
  'UK.OBIE.Rules.FailsControlParameters': [400, 'U014'],
  'UK.OBIE.Signature.Invalid': [400, 'U015'],
  'UK.OBIE.Signature.InvalidClaim': [400, 'U016'],
  'UK.OBIE.Signature.MissingClaim': [400, 'U017'],
  'UK.OBIE.Signature.Malformed': [400, 'U018'],
  'UK.OBIE.Signature.Missing': [400, 'U019'],
  'UK.OBIE.Unsupported.Currency': [400, 'U023'],
  'UK.OBIE.Unsupported.Scheme': [400, 'U027'],
  'UK.OBIE.Rules.ResourceAlreadyExists': [409, 'U029'],
  'UK.OBIE.Unauthorised': [401, 'U000'],
  'UK.OBIE.Forbidden': [403, 'U000'],
  'UK.OBIE.MethodNotAllowed': [405, 'U000'],
  'UK.OBIE.NotAcceptable': [406, 'U000'],
  'UK.OBIE.UnsupportedMediaType': [415, 'U000'],
  'UK.OBIE.TooManyRequests': [429, 'U000'],
  'UK.OBIE.UnexpectedError': [500, 'U000'],
} as const

export type BankErrorCode = keyof typeof CODES

/** A request that the bank refuses. */
export class BankError extends Error {
  readonly code: BankErrorCode
  readonly status: number
  /** The code of version 4.0, four characters. */
  readonly shortCode: string
  readonly path: string | undefined

  constructor(code: BankErrorCode, message: string, options: { path?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.name = 'BankError'
    this.code = code
    const [status, shortCode] = CODES[code]
    this.status = status
    this.shortCode = shortCode
    this.path = options.path
  }
}
