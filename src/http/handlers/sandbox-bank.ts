import { listSandboxAccounts, setSandboxAccount } from '../../sandbox/accounts.ts'
import { checkBooks } from '../../sandbox/check-books.ts'
import { createSandboxCustomer } from '../../sandbox/create-sandbox-customer.ts'
import { seedSandbox } from '../../sandbox/seed-sandbox.ts'
import type * as wire from '../../wire/sandbox-bank.ts'
import type { Handlers } from '../endpoint.ts'
import { operatorOf } from '../principal.ts'

export const sandboxBank: Handlers<typeof wire> = {
  /** POST /api/v1/sandbox/customers */
  async createSandboxCustomer(app, { principal, body }) {
    const { actor } = operatorOf(principal)
    return { status: 201, body: await createSandboxCustomer(app, { ...body, actor }) }
  },

  /** GET /api/v1/sandbox/accounts */
  async listSandboxAccounts(app, { query }) {
    const { accounts, nextCursor } = await listSandboxAccounts(app, query)
    return { status: 200, body: { data: accounts, has_more: nextCursor !== null, next_cursor: nextCursor } }
  },

  /** PUT /api/v1/sandbox/accounts/{id} */
  async setSandboxAccount(app, { principal, params, body }) {
    const { actor } = operatorOf(principal)
    return { status: 200, body: await setSandboxAccount(app, { ...body, id: params.id, actor }) }
  },

  /** GET /api/v1/sandbox/books */
  async checkBooks(app) {
    const { checkedAt, isBalanced, totals } = await checkBooks(app)
    return { status: 200, body: { checked_at: checkedAt, is_balanced: isBalanced, totals } }
  },

  /** POST /api/v1/sandbox/seed */
  async seedSandbox(app, { principal, body }) {
    const { actor } = operatorOf(principal)
    const { customers, transactions, alreadyThere } = await seedSandbox(app, { ...body, actor })
    return { status: 201, body: { seed: body.seed, customers, transactions, already_there: alreadyThere } }
  },
}
