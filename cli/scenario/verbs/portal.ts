import { addBankAccount, disableBankAccount } from '../../../src/wire/bank-accounts.ts'
import { putBranding, putCheckoutOrigins } from '../../../src/wire/settings.ts'
import { call } from '../../client/call.ts'
import { keep, madeOf, readInput } from '../play/case-run.ts'
import type { CaseRun } from '../play/case-run.ts'
import { AddBankAccount, BrandingStep, DisableBankAccount, Origins } from '../language/portal.ts'
import { refuseUnlike } from './refuse-unlike.ts'

/** Sets the look of the merchant's checkout. */
export async function branding(run: CaseRun, given: unknown): Promise<void> {
  const { expect, ...look } = readInput(run, BrandingStep, given)
  refuseUnlike('the look', await call(run.client, putBranding, { body: look }), { usual: 200, expected: expect })
}

/** Sets the pages that may embed the merchant's checkout. */
export async function origins(run: CaseRun, given: unknown): Promise<void> {
  const { expect, allowed } = readInput(run, Origins, given)
  refuseUnlike('the origins', await call(run.client, putCheckoutOrigins, { body: { origins: allowed } }), {
    usual: 200,
    expected: expect,
  })
}

/** Adds an account that the merchant's payouts go to, or disables one. */
export async function bankAccount(run: CaseRun, given: unknown): Promise<void> {
  if (DisableBankAccount.safeParse(given).success) return disable(run, given)
  const { as, expect, account_holder_name = run.merchant.name, ...said } = readInput(run, AddBankAccount, given)
  const reply = await call(run.client, addBankAccount, { body: { account_holder_name, ...said } })
  keep(run, as, { kind: 'bank account', id: reply.body.id }, reply.body)
  refuseUnlike('the bank account', reply, { usual: 201, expected: expect })
}

async function disable(run: CaseRun, given: unknown): Promise<void> {
  const { disable: reference, expect } = readInput(run, DisableBankAccount, given)
  const { id } = madeOf(run, 'bank account', reference)
  refuseUnlike('the bank account', await call(run.client, disableBankAccount, { params: { id } }), {
    usual: 200,
    expected: expect,
  })
}
