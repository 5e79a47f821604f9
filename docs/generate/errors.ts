import { ERROR_STATUS } from '../../src/http/error-status.ts'
import { ERROR_TEXTS } from '../../src/lib/error-texts.ts'
import type { ErrorCode } from '../../src/lib/errors.ts'
import { failureOf, isFailureCode } from '../../src/lib/failure-codes.ts'
import { MEANINGS } from '../../src/lib/failure-meaning.ts'
import { REQUEST_REASONS, isoReasonText } from '../../src/lib/iso-reasons.ts'
import { block, code, pageHead, table } from './markdown.ts'

export function errorsPage(): string {
  const names = Object.keys(ERROR_TEXTS).filter((name): name is ErrorCode => Object.hasOwn(ERROR_TEXTS, name))
  const errors = names
    .toSorted((a, b) => ERROR_STATUS[a] - ERROR_STATUS[b])
    .map((name) => [String(ERROR_STATUS[name]), code(name), ERROR_TEXTS[name].meaning, ERROR_TEXTS[name].next])
  const failures = Object.keys(MEANINGS)
    .filter(isFailureCode)
    .map((name) => {
      const { reason, source, iso_code } = failureOf(name)
      return [code(name), `${reason}.`, code(source), code(iso_code)]
    })
  const reasons = REQUEST_REASONS.map((name) => [code(name), `${isoReasonText(name)}.`])
  return `${pageHead(
    'Errors',
    `Every error of the API has a stable \`code\`, an HTTP status and a page at \`/errors/<code>\`, the address in its \`type\`.`,
  )}
${block('sh', 'curl -s http://127.0.0.1:8080/errors/payment-not-found')}
## Error codes

${table(['Status', 'Code', 'Meaning', 'Next step'], errors)}
## Why a payment failed

\`failure\` of a Failed payment, and of \`payment.failed\`, has one of these codes. They are not errors of a request.

${table(['Code', 'Reason', 'Source', 'ISO 20022'], failures)}
## Why an Open Banking order was rejected

${table(['Reason', 'Meaning'], reasons)}`
}
