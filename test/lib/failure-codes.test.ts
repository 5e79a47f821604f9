import t from 'tap'
import { failureOf, failureOfRedirectError, isFailureCode } from '../../src/lib/failure-codes.ts'
import type { FailureCode } from '../../src/lib/failure-codes.ts'

/** Table 3.4 of the decisions, once more by hand. */
const TABLE: Readonly<Record<FailureCode, [iso: string, source: string]>> = {
  ACCESS_DENIED: ['CUST', 'ASPSP_REJECTION'],
  AUTHORISATION_FAILED: ['U033', 'ASPSP_REJECTION'],
  INSUFFICIENT_FUNDS: ['AM04', 'ASPSP_REJECTION'],
  LIMIT_EXCEEDED: ['AM14', 'ASPSP_REJECTION'],
  ACCOUNT_CLOSED: ['AC05', 'ASPSP_REJECTION'],
  ACCOUNT_BLOCKED: ['AC06', 'ASPSP_REJECTION'],
  INVALID_DEBTOR_ACCOUNT: ['AC02', 'ASPSP_REJECTION'],
  INVALID_CREDITOR_ACCOUNT: ['AC03', 'SCHEME'],
  FRAUD_SUSPECTED: ['FR01', 'ASPSP_REJECTION'],
  DUPLICATE_PAYMENT: ['DU03', 'SCHEME'],
  BANK_UNAVAILABLE: ['AB07', 'ASPSP_REJECTION'],
  BANK_TIMEOUT: ['AB11', 'ASPSP_REJECTION'],
  SETTLEMENT_FAILED: ['ED05', 'SCHEME'],
  CONSENT_EXPIRED: ['TKXP', 'PLATFORM'],
  CANCELLED_BY_MERCHANT: ['DS02', 'MERCHANT'],
  CANCELLED_BY_PLATFORM: ['DS02', 'PLATFORM'],
  BANK_ERROR: ['MS03', 'ASPSP_REJECTION'],
}

t.test('every code has its ISO reason, its source and a text of its own', async (t) => {
  const codes = Object.keys(TABLE).filter(isFailureCode)
  t.equal(codes.length, 17)
  for (const code of codes) {
    const [iso, source] = TABLE[code]
    t.match(failureOf(code), { code, iso_code: iso, source }, code)
  }
  t.equal(new Set(codes.map((code) => failureOf(code).reason)).size, codes.length)
})

t.test('a source is another one only where the caller says so', async (t) => {
  t.equal(failureOf('ACCESS_DENIED', 'PAYER').source, 'PAYER')
  t.equal(failureOf('ACCESS_DENIED').source, 'ASPSP_REJECTION')
})

t.test('unknown codes are not failure codes, not even inherited property names', async (t) => {
  for (const text of ['', 'access_denied', 'constructor', 'toString', '__proto__', 'UNKNOWN'])
    t.notOk(isFailureCode(text), text)
})

t.test('the errors of a redirect are distinguished, and all others are failed authorisations', async (t) => {
  const cases = {
    access_denied: 'ACCESS_DENIED',
    server_error: 'BANK_ERROR',
    temporarily_unavailable: 'BANK_UNAVAILABLE',
    invalid_request: 'AUTHORISATION_FAILED',
    ACCESS_DENIED: 'AUTHORISATION_FAILED',
    '': 'AUTHORISATION_FAILED',
    constructor: 'AUTHORISATION_FAILED',
    toString: 'AUTHORISATION_FAILED',
    hasOwnProperty: 'AUTHORISATION_FAILED',
  }
  for (const [error, code] of Object.entries(cases)) t.equal(failureOfRedirectError(error), code, error)
  t.equal(failureOfRedirectError('__proto__'), 'AUTHORISATION_FAILED')
})
