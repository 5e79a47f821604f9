import t from 'tap'
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes.ts'
import { roleAllows } from '../../src/lib/permissions.ts'
import type { MerchantRole, Permission } from '../../src/lib/permissions.ts'

const ROLES: readonly MerchantRole[] = ['ADMIN', 'DEVELOPER', 'FINANCE']

/** Decision 31, written down once more: rows by what is asked, columns by role. */
const MATRIX: [Permission, boolean, boolean, boolean][] = [
  ['read payments', true, true, true],
  ['create payments', true, true, false],
  ['refund payments', true, false, true],
  ['manage webhooks', true, true, false],
]

t.test('each role may do what the table says and nothing else', async (t) => {
  for (const [permission, ...expected] of MATRIX) {
    t.same(
      ROLES.map((role) => roleAllows(role, permission)),
      expected,
      permission,
    )
  }
})

/** Which permission each operation asks for; one that is not here must be reachable without a merchant. */
const ASKED: Record<string, Permission> = {
  createPayment: 'create payments',
  cancelPayment: 'create payments',
  listPayments: 'read payments',
  getPayment: 'read payments',
  listPaymentEvents: 'read payments',
  refundPayment: 'refund payments',
  getWebhookEndpoint: 'manage webhooks',
  putWebhookEndpoint: 'manage webhooks',
  listWebhooks: 'manage webhooks',
  replayWebhook: 'manage webhooks',
  listEvents: 'manage webhooks',
}

t.test('every operation of a merchant asks for its permission', async (t) => {
  for (const { operation } of [...ROUTES, ...SANDBOX_ROUTES]) {
    if (operation.access.includes('merchant')) t.equal(operation.permission, ASKED[operation.name], operation.name)
    else t.equal(operation.permission, undefined, operation.name)
  }
})

t.test('what needs no merchant is a short list, and each has a credential of its own', async (t) => {
  const open = ROUTES.map((row) => row.operation).filter(
    ({ access }) => !access.includes('merchant') && !access.includes('sandbox'),
  )
  t.same(open.map(({ name, access }) => [name, ...access]).toSorted(), [
    ['bankCallback', 'bank'],
    ['completeSca', 'anyone'],
  ])
  const payers = ROUTES.map((row) => row.operation).filter(({ access }) => access.includes('payment-state'))
  t.same(payers.map(({ name }) => name).toSorted(), ['cancelPayment', 'getPayment'])
})
