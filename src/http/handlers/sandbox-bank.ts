import { listSandboxAccounts, setSandboxAccount } from '../../sandbox/accounts.ts'
import { checkBooks as sumUp } from '../../sandbox/check-books.ts'
import { createSandboxCustomer } from '../../sandbox/create-customer.ts'
import { seedBank } from '../../sandbox/seed-bank.ts'
import type * as wire from '../../wire/sandbox-bank.ts'
import type { Handler } from '../endpoint.ts'
import { operatorOf } from '../principal.ts'

/** POST /api/v1/sandbox/customers */
export const createCustomer: Handler<typeof wire.createSandboxCustomer> = async (app, { principal, body }) => {
  const { actor } = operatorOf(principal)
  return { status: 201, body: await createSandboxCustomer(app, { ...body, actor }) }
}

/** GET /api/v1/sandbox/accounts */
export const listAccounts: Handler<typeof wire.listSandboxAccounts> = async (app, { query }) => {
  const { accounts, nextCursor } = await listSandboxAccounts(app, query)
  return { status: 200, body: { data: accounts, has_more: nextCursor !== null, next_cursor: nextCursor } }
}

/** PUT /api/v1/sandbox/accounts/{id} */
export const setAccount: Handler<typeof wire.setSandboxAccount> = async (app, { principal, params, body }) => {
  const { actor } = operatorOf(principal)
  return { status: 200, body: await setSandboxAccount(app, { ...body, id: params.id, actor }) }
}

/** GET /api/v1/sandbox/books */
export const checkBooks: Handler<typeof wire.checkBooks> = async (app) => {
  const { checkedAt, isBalanced, totals } = await sumUp(app)
  return { status: 200, body: { checked_at: checkedAt, is_balanced: isBalanced, totals } }
}

/** POST /api/v1/sandbox/seed */
export const seed: Handler<typeof wire.seedSandbox> = async (app, { principal, body }) => {
  const { actor } = operatorOf(principal)
  const { customers, transactions, alreadyThere } = await seedBank(app, { ...body, actor })
  return { status: 201, body: { seed: body.seed, customers, transactions, already_there: alreadyThere } }
}
