import { BankError } from './bank-error.ts'
import type { ResourceRequest } from './resource.ts'

const CORRECT = 'ContractPresentIndicator'
/** As the official description of version 3.1 has it. */
const MISSPELT = 'ContractPresentInidicator'

/**
 * Members of a consent that this bank does not take.
 * @throws {BankError}
 */
export function refuseByQuirk(
  { version, quirks }: ResourceRequest,
  data: { ReadRefundAccount?: unknown },
  risk: Record<string, unknown>,
): void {
  if (quirks.has('no_refund_account') && data.ReadRefundAccount !== undefined)
    throw unexpected('Data.ReadRefundAccount')
  const isMisspelt = version.name === '3.1' || quirks.has('misspelt_contract_present_indicator')
  const refused = quirks.has('no_contract_present_indicator') ? [CORRECT, MISSPELT] : [isMisspelt ? CORRECT : MISSPELT]
  const found = refused.find((member) => member in risk)
  if (found !== undefined) throw unexpected(`Risk.${found}`)
  if (quirks.has('misspelt_contract_present_indicator') && !(MISSPELT in risk)) {
    throw new BankError('UK.OBIE.Field.Missing', `${MISSPELT} is missing`, { path: `Risk.${MISSPELT}` })
  }
}

function unexpected(path: string): BankError {
  return new BankError('UK.OBIE.Field.Unexpected', `${path} is not expected`, { path })
}
