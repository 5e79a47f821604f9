import { addBankAccount } from '../../bank-accounts/add-bank-account.ts'
import { disableBankAccount } from '../../bank-accounts/disable-bank-account.ts'
import { listBankAccounts } from '../../bank-accounts/list-bank-accounts.ts'
import type * as wire from '../../wire/bank-accounts.ts'
import type { Handlers } from '../endpoint.ts'
import { merchantOf } from '../principal.ts'

export const bankAccounts: Handlers<typeof wire> = {
  /** GET /api/v1/portal/bank-accounts */
  async listBankAccounts(app, { principal }) {
    const accounts = await listBankAccounts(app, merchantOf(principal).merchantId)
    return { status: 200, body: { data: [...accounts], has_more: false, next_cursor: null } }
  },

  /** POST /api/v1/portal/bank-accounts */
  async addBankAccount(app, { principal, body }) {
    const { merchantId, actor } = merchantOf(principal)
    return { status: 201, body: await addBankAccount(app, { ...body, merchantId, actor }) }
  },

  /** DELETE /api/v1/portal/bank-accounts/{id} */
  async disableBankAccount(app, { principal, params }) {
    const { merchantId, actor } = merchantOf(principal)
    return { status: 200, body: await disableBankAccount(app, { merchantId, id: params.id, actor }) }
  },
}
