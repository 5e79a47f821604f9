import t from 'tap'
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes.ts'
import { commonRole, permissionsOf, roleAllows } from '../../src/lib/permissions.ts'
import type { Permission, Role } from '../../src/lib/permissions.ts'
import { permissionsOfOperation } from '../../src/wire/operation.ts'

const ROLES: readonly Role[] = ['ADMIN', 'DEVELOPER', 'FINANCE', 'NONE', 'OWNER', 'OPS', 'SUPPORT']

/** Decisions 30 and 31, written down once more: what is asked, and who may. */
const MATRIX: Record<Permission, readonly Role[]> = {
  'read payments': ['ADMIN', 'DEVELOPER', 'FINANCE', 'NONE'],
  'create payments': ['ADMIN', 'DEVELOPER', 'NONE'],
  'refund payments': ['ADMIN', 'FINANCE', 'NONE'],
  'manage webhooks': ['ADMIN', 'DEVELOPER'],
  'manage signing secret': ['ADMIN', 'DEVELOPER'],
  'manage checkout': ['ADMIN', 'DEVELOPER'],
  'read branding': ['ADMIN', 'DEVELOPER'],
  'manage branding': ['ADMIN'],
  'read balances': ['ADMIN', 'FINANCE'],
  'manage settlements': ['ADMIN', 'FINANCE'],
  'read bank accounts': ['ADMIN', 'FINANCE'],
  'manage bank accounts': ['ADMIN'],
  'manage team': ['ADMIN'],
  'manage credentials': ['ADMIN'],
  'read merchants': ['OWNER', 'OPS', 'SUPPORT'],
  'operate merchants': ['OWNER', 'OPS'],
  'administer platform': ['OWNER'],
  'operate sandbox': ['OWNER', 'OPS'],
}

t.test('each role has exactly the permissions of the table', async (t) => {
  for (const role of ROLES) {
    for (const [permission, may] of Object.entries(MATRIX) as [Permission, readonly Role[]][])
      t.equal(roleAllows(role, permission), may.includes(role), `${role}: ${permission}`)
    t.same(
      permissionsOf(role),
      Object.entries(MATRIX).flatMap(([permission, may]) => (may.includes(role) ? [permission] : [])),
    )
  }
})

t.test('of two roles the one that says less counts, and nothing where neither does', async (t) => {
  const common: [Role, Role, Role | undefined][] = [
    ['ADMIN', 'ADMIN', 'ADMIN'],
    ['ADMIN', 'DEVELOPER', 'DEVELOPER'],
    ['ADMIN', 'FINANCE', 'FINANCE'],
    ['ADMIN', 'NONE', 'NONE'],
    ['DEVELOPER', 'FINANCE', undefined],
    ['DEVELOPER', 'NONE', undefined],
    ['FINANCE', 'NONE', undefined],
    ['OWNER', 'OPS', 'OPS'],
    ['OWNER', 'SUPPORT', 'SUPPORT'],
    ['OPS', 'SUPPORT', 'SUPPORT'],
  ]
  for (const [a, b, expected] of common) {
    t.equal(commonRole(a, b), expected, `${a} and ${b}`)
    t.equal(commonRole(b, a), expected, `${b} and ${a}`)
  }
})

/**
 * Which permission each operation asks for, a merchant's before an operator's where both may call it; one that is not here
 * asks for no caller, or for any.
 */
const ASKED: Record<string, Permission | readonly [Permission, Permission]> = {
  streamEvents: ['read payments', 'read merchants'],
  getOverview: 'read merchants',
  getPortalOverview: 'read payments',
  getInbox: 'read merchants',
  getPortalInbox: 'read payments',
  listAdminPayments: 'read merchants',
  getAdminPayment: 'read merchants',
  createPayment: 'create payments',
  cancelPayment: 'create payments',
  listConsents: 'read payments',
  getConsent: 'read payments',
  endConsent: 'create payments',
  listPayments: 'read payments',
  getPayment: 'read payments',
  listPaymentEvents: 'read payments',
  refundPayment: 'refund payments',
  getWebhookEndpoint: 'manage webhooks',
  putWebhookEndpoint: 'manage webhooks',
  listWebhooks: 'manage webhooks',
  replayWebhook: 'manage webhooks',
  listEvents: 'manage webhooks',
  listTeam: 'manage team',
  inviteTeamMember: 'manage team',
  changeTeamRole: 'manage team',
  removeTeamMember: 'manage team',
  resetTeamFactor: 'manage team',
  listApiCredentials: 'manage credentials',
  createApiCredential: 'manage credentials',
  rotateApiCredential: 'manage credentials',
  revokeApiCredential: 'manage credentials',
  listRegistrations: 'read merchants',
  repairRegistration: 'operate merchants',
  listMerchants: 'read merchants',
  getMerchant: 'read merchants',
  setKybStatus: 'operate merchants',
  setPayoutHold: 'operate merchants',
  setMerchantActive: 'operate merchants',
  listAudit: 'administer platform',
  raiseDispute: 'refund payments',
  listRefunds: 'read payments',
  listTransactions: 'read payments',
  getTransaction: 'read payments',
  listDisputes: 'read payments',
  getDispute: 'read payments',
  submitEvidence: 'refund payments',
  acceptDispute: 'refund payments',
  checkWebhookEndpoint: 'manage webhooks',
  testWebhook: 'manage webhooks',
  replayWebhooks: 'manage webhooks',
  getWebhook: 'manage webhooks',
  getWebhookSecret: 'manage signing secret',
  rotateWebhookSecret: 'manage signing secret',
  endSecretOverlap: 'manage signing secret',
  getBranding: 'read branding',
  putBranding: 'manage branding',
  getCheckoutOrigins: 'manage checkout',
  putCheckoutOrigins: 'manage checkout',
  getBalances: 'read balances',
  listPayouts: 'read balances',
  getPayout: 'read balances',
  listAdminPayouts: 'read merchants',
  getAdminPayout: 'read merchants',
  retryPayout: 'operate merchants',
  failPayout: 'operate merchants',
  failRefund: 'operate merchants',
  resolvePayment: 'operate merchants',
  listSettlements: 'read balances',
  getSettlement: 'read balances',
  listSettlementLines: 'read balances',
  closeSettlements: 'manage settlements',
  getSettlementSchedule: 'read balances',
  putSettlementSchedule: 'manage settlements',
  listAdminSettlements: 'read merchants',
  getAdminSettlement: 'read merchants',
  listAdminSettlementLines: 'read merchants',
  setSettlementSchedule: 'operate merchants',
  listBankAccounts: 'read bank accounts',
  addBankAccount: 'manage bank accounts',
  disableBankAccount: 'manage bank accounts',
  explainForMerchant: 'read payments',
  getFees: 'administer platform',
  setFees: 'administer platform',
  getLimits: 'administer platform',
  setLimits: 'administer platform',
  correctBalance: 'administer platform',
  getAuditEntry: 'administer platform',
  exportAudit: 'administer platform',
  listAdminDisputes: 'read merchants',
  getAdminDispute: 'read merchants',
  raiseAdminDispute: 'operate merchants',
  escalateDispute: 'operate merchants',
  resolveDispute: 'operate merchants',
  createPayoutFile: 'operate merchants',
  listPayoutFiles: 'operate merchants',
  getPayoutFile: 'operate merchants',
  importPayoutReport: 'operate merchants',
  importStatements: 'operate merchants',
  listBankConnections: 'operate merchants',
  setSoftwareStatement: 'administer platform',
  registerAtBank: 'administer platform',
  testBank: 'operate merchants',
  getReconciliation: 'read merchants',
  listBalances: 'read merchants',
  listReconciliations: 'read merchants',
  getPortalReconciliation: 'read balances',
  listStatements: 'operate merchants',
  listStatementLines: 'operate merchants',
  listUnmatchedMovements: 'operate merchants',
  resolveStatementLine: 'operate merchants',
  creditReturnedRefund: 'administer platform',
  listOutbox: 'read merchants',
  replayForMerchant: 'operate merchants',
  explainForOperator: 'read merchants',
  disputeAsPayer: 'operate sandbox',
  listStaff: 'administer platform',
  addStaff: 'administer platform',
  changeStaffRole: 'administer platform',
  removeStaff: 'administer platform',
  resetStaffFactor: 'administer platform',
  erasePayer: 'administer platform',
  resetMemberFactor: 'operate merchants',
  listStaffClients: 'administer platform',
  createStaffClient: 'administer platform',
  revokeStaffClient: 'administer platform',
  rotateRealmKeys: 'administer platform',
  createSandboxMerchant: 'operate sandbox',
  createSandboxCustomer: 'operate sandbox',
  listSandboxAccounts: 'operate sandbox',
  setSandboxAccount: 'operate sandbox',
  checkBooks: 'operate sandbox',
  seedSandbox: 'operate sandbox',
  getBankFaults: 'operate sandbox',
  setBankFaults: 'operate sandbox',
  listBankScenarios: 'operate sandbox',
  advanceSandboxPayment: 'operate sandbox',
  advanceSandboxClock: 'operate sandbox',
  readSandboxClock: 'operate sandbox',
  listMails: 'operate sandbox',
  getMail: 'operate sandbox',
}

const operations = [...ROUTES, ...SANDBOX_ROUTES].map((row) => row.operation)
const isForCallers = (access: readonly string[]): boolean =>
  access.some((kind) => ['merchant', 'platform', 'sandbox'].includes(kind))

t.test('every operation asks for its permission, of the realm that has it', async (t) => {
  for (const operation of operations) {
    const { name, access } = operation
    const asked = permissionsOfOperation(operation)
    t.same(asked, [ASKED[name] ?? []].flat(), name)
    if (asked.length === 0) continue
    const hold = (role: Role): boolean => asked.some((permission) => MATRIX[permission].includes(role))
    t.equal(access.includes('merchant'), hold('ADMIN'), `${name}: a merchant's`)
    t.equal(access.includes('platform') || access.includes('sandbox'), hold('OWNER'), `${name}: operators'`)
  }
  t.same(
    Object.keys(ASKED).filter((name) => !operations.some((each) => each.name === name)),
    [],
  )
})

t.test('only whoami is for any role; another operation without a permission is rejected', async (t) => {
  t.same(
    operations.filter(({ access, permission }) => isForCallers(access) && permission === undefined).map((o) => o.name),
    ['whoami'],
  )
})

t.test(
  'operations without a caller are a short list, each with a credential of its own or without secrets',
  async (t) => {
    const open = operations.filter(({ access, scopes = [] }) => {
      // A customer's token must have been asked for at least one of the scopes.
      t.equal(access.includes('customer'), scopes.length > 0)
      return !isForCallers(access) && !access.includes('customer')
    })
    t.same(open.map(({ name, access }) => [name, ...access]).toSorted(), [
      ['bankCallback', 'bank'],
      ['completeSca', 'anyone'],
      ['getCheckout', 'checkout-token'],
      ['getPayerPayment', 'payer'],
      ['getService', 'anyone'],
      ['leaveContact', 'payment-state'],
      ['listBanks', 'anyone'],
      ['listPayerConsents', 'payer'],
      ['listPayerPayments', 'payer'],
      ['raisePayerDispute', 'payer'],
      ['registerMerchant', 'anyone'],
      ['requestLink', 'anyone'],
      ['revokePayerConsent', 'payer'],
      ['sendPayerReceipt', 'payer'],
      ['signOutPayer', 'payer'],
      ['verifyLink', 'anyone'],
    ])
    const payers = operations.filter(({ access }) => access.includes('payment-state'))
    t.same(payers.map(({ name }) => name).toSorted(), ['cancelPayment', 'getPayment', 'leaveContact'])
  },
)
