import { ErrorBody } from '../../src/wire/common.ts'
import { ErrorResponse } from '../../src/wire/open-banking.ts'

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
