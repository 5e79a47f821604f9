import { addBankAccount } from '../../bank-accounts/add.ts'
import { disableBankAccount } from '../../bank-accounts/disable.ts'
import { listBankAccounts } from '../../bank-accounts/list.ts'
import type * as wire from '../../wire/bank-accounts.ts'
import type { Handler } from '../endpoint.ts'
import { merchantOf } from '../principal.ts'

/** GET /api/v1/portal/bank-accounts */
export const list: Handler<typeof wire.listBankAccounts> = async (app, { principal }) => {
  const accounts = await listBankAccounts(app, merchantOf(principal).merchantId)
  return { status: 200, body: { data: [...accounts], has_more: false, next_cursor: null } }
}

/** POST /api/v1/portal/bank-accounts */
export const add: Handler<typeof wire.addBankAccount> = async (app, { principal, body }) => {
  const { merchantId, actor } = merchantOf(principal)
  return { status: 201, body: await addBankAccount(app, { ...body, merchantId, actor }) }
}

/** DELETE /api/v1/portal/bank-accounts/{id} */
export const disable: Handler<typeof wire.disableBankAccount> = async (app, { principal, params }) => {
  const { merchantId, actor } = merchantOf(principal)
  return { status: 200, body: await disableBankAccount(app, { merchantId, id: params.id, actor }) }
}
