import type { App } from '../app.ts'
import type { DebtorAccount } from '../banks/connector.ts'
import type { SchemeName } from '../lib/account-identification.ts'
import type { SealContext } from '../lib/seal.ts'

/** The place that a payer's account number is sealed to. */
export function debtorAccountContext({ merchantId, consentId }: ConsentKey): SealContext {
  return { table: 'payment_consents', column: 'debtor_identification', rowId: consentId, merchantId }
}

type ConsentKey = { merchantId: string; consentId: string }

/** A row with the payer's account as its consent has it: the number is sealed. */
export type SealedAccount = {
  merchant_id: string
  consent_id: string
  debtor_account_scheme: SchemeName | null
  debtor_identification: string | null
}

/** The payer's account; undefined where the consent names none. */
export function openDebtorAccount({ sealer }: Pick<App, 'sealer'>, row: SealedAccount): DebtorAccount | undefined {
  const {
    merchant_id: merchantId,
    consent_id: consentId,
    debtor_account_scheme: scheme,
    debtor_identification: sealed,
  } = row
  if (scheme === null || sealed === null) return undefined
  return { scheme, identification: sealer.open(sealed, debtorAccountContext({ merchantId, consentId })) }
}

/** The two columns of a consent for a payer's account. A shop may know only one of them, which names no account. */
export function sealDebtorAccount(
  { sealer }: Pick<App, 'sealer'>,
  { scheme, identification }: { [Part in keyof DebtorAccount]?: DebtorAccount[Part] | undefined },
  key: ConsentKey,
): Pick<SealedAccount, 'debtor_account_scheme' | 'debtor_identification'> {
  return {
    debtor_account_scheme: scheme ?? null,
    debtor_identification: identification === undefined ? null : sealer.seal(identification, debtorAccountContext(key)),
  }
}
