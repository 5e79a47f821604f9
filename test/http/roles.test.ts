import { randomUUID } from 'node:crypto'
import t from 'tap'
import { makeGuard } from '../../src/http/guards.ts'
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes.ts'
import { DomainError } from '../../src/lib/errors.ts'
import { hasLastingEffect } from '../../src/lib/permissions.ts'
import { hasBody, permissionsOfOperation } from '../../src/wire/operation.ts'
import type { Operation } from '../../src/wire/operation.ts'
import { listMerchants } from '../../src/wire/admin.ts'
import { listPayments } from '../../src/wire/payments.ts'
import { addStaff } from '../../src/wire/staff.ts'
import { inviteTeamMember } from '../../src/wire/team.ts'
import { endingPath, serviceWithRealms } from '../support/realms.ts'

/*
 * Decisions 30 and 31, written down once more: the roles that may call each operation, by its name. `open` is for
 * operations that need no caller. An operation that is not here fails the test, whatever it requires.
 */
const open = 'open'
const NOBODY = ''
const MAY: Record<string, string> = {
  createPayment: 'ADMIN DEVELOPER NONE',
  listPayments: 'ADMIN DEVELOPER FINANCE NONE',
  getPayment: 'ADMIN DEVELOPER FINANCE NONE',
  listPaymentEvents: 'ADMIN DEVELOPER FINANCE NONE',
  completeSca: open,
  cancelPayment: 'ADMIN DEVELOPER NONE',
  refundPayment: 'ADMIN FINANCE NONE',

  getWebhookEndpoint: 'ADMIN DEVELOPER',
  putWebhookEndpoint: 'ADMIN DEVELOPER',
  listWebhooks: 'ADMIN DEVELOPER',
  replayWebhook: 'ADMIN DEVELOPER',
  listEvents: 'ADMIN DEVELOPER',

  listTeam: 'ADMIN',
  inviteTeamMember: 'ADMIN',
  changeTeamRole: 'ADMIN',
  removeTeamMember: 'ADMIN',
  resetTeamFactor: 'ADMIN',
  listApiCredentials: 'ADMIN',
  createApiCredential: 'ADMIN',
  rotateApiCredential: 'ADMIN',
  revokeApiCredential: 'ADMIN',

  registerMerchant: open,
  listRegistrations: 'OWNER OPS SUPPORT',
  repairRegistration: 'OWNER OPS',
  listMerchants: 'OWNER OPS SUPPORT',
  getMerchant: 'OWNER OPS SUPPORT',
  setKybStatus: 'OWNER OPS',
  setPayoutHold: 'OWNER OPS',
  setMerchantActive: 'OWNER OPS',
  listAudit: 'OWNER',
  raiseDispute: 'ADMIN FINANCE NONE',
  listRefunds: 'ADMIN DEVELOPER FINANCE NONE',
  listTransactions: 'ADMIN DEVELOPER FINANCE NONE',
  getTransaction: 'ADMIN DEVELOPER FINANCE NONE',
  listDisputes: 'ADMIN DEVELOPER FINANCE NONE',
  getDispute: 'ADMIN DEVELOPER FINANCE NONE',
  submitEvidence: 'ADMIN FINANCE NONE',
  acceptDispute: 'ADMIN FINANCE NONE',
  checkWebhookEndpoint: 'ADMIN DEVELOPER',
  testWebhook: 'ADMIN DEVELOPER',
  replayWebhooks: 'ADMIN DEVELOPER',
  getWebhook: 'ADMIN DEVELOPER',
  getWebhookSecret: 'ADMIN DEVELOPER',
  rotateWebhookSecret: 'ADMIN DEVELOPER',
  endSecretOverlap: 'ADMIN DEVELOPER',
  getBranding: 'ADMIN DEVELOPER',
  putBranding: 'ADMIN',
  getCheckoutOrigins: 'ADMIN DEVELOPER',
  putCheckoutOrigins: 'ADMIN DEVELOPER',
  getBalances: 'ADMIN FINANCE',
  listPayouts: 'ADMIN FINANCE',
  getPayout: 'ADMIN FINANCE',
  listAdminPayouts: 'OWNER OPS SUPPORT',
  getAdminPayout: 'OWNER OPS SUPPORT',
  retryPayout: 'OWNER OPS',
  failPayout: 'OWNER OPS',
  failRefund: 'OWNER OPS',
  resolvePayment: 'OWNER OPS',
  listSettlements: 'ADMIN FINANCE',
  getSettlement: 'ADMIN FINANCE',
  listSettlementLines: 'ADMIN FINANCE',
  closeSettlements: 'ADMIN FINANCE',
  getSettlementSchedule: 'ADMIN FINANCE',
  putSettlementSchedule: 'ADMIN FINANCE',
  listAdminSettlements: 'OWNER OPS SUPPORT',
  getAdminSettlement: 'OWNER OPS SUPPORT',
  listAdminSettlementLines: 'OWNER OPS SUPPORT',
  setSettlementSchedule: 'OWNER OPS',
  listBankAccounts: 'ADMIN FINANCE',
  addBankAccount: 'ADMIN',
  disableBankAccount: 'ADMIN',
  explainForMerchant: 'ADMIN DEVELOPER FINANCE NONE',
  getFees: 'OWNER',
  setFees: 'OWNER',
  getLimits: 'OWNER',
  setLimits: 'OWNER',
  correctBalance: 'OWNER',
  getAuditEntry: 'OWNER',
  exportAudit: 'OWNER',
  listAdminDisputes: 'OWNER OPS SUPPORT',
  getAdminDispute: 'OWNER OPS SUPPORT',
  raiseAdminDispute: 'OWNER OPS',
  escalateDispute: 'OWNER OPS',
  resolveDispute: 'OWNER OPS',
  createPayoutFile: 'OWNER OPS',
  listPayoutFiles: 'OWNER OPS',
  getPayoutFile: 'OWNER OPS',
  importPayoutReport: 'OWNER OPS',
  importStatements: 'OWNER OPS',
  getReconciliation: 'OWNER OPS SUPPORT',
  listBalances: 'OWNER OPS SUPPORT',
  listReconciliations: 'OWNER OPS SUPPORT',
  getPortalReconciliation: 'ADMIN FINANCE',
  listStatements: 'OWNER OPS',
  listStatementLines: 'OWNER OPS',
  listUnmatchedMovements: 'OWNER OPS',
  resolveStatementLine: 'OWNER OPS',
  creditReturnedRefund: 'OWNER',
  listBankConnections: 'OWNER OPS',
  setSoftwareStatement: 'OWNER',
  registerAtBank: 'OWNER',
  testBank: 'OWNER OPS',
  listOutbox: 'OWNER OPS SUPPORT',
  replayForMerchant: 'OWNER OPS',
  explainForOperator: 'OWNER OPS SUPPORT',
  disputeAsPayer: 'OWNER OPS',
  getBankFaults: 'OWNER OPS',
  setBankFaults: 'OWNER OPS',
  listBankScenarios: 'OWNER OPS',
  advanceSandboxPayment: 'OWNER OPS',
  getOverview: 'OWNER OPS SUPPORT',
  getPortalOverview: 'ADMIN DEVELOPER FINANCE NONE',
  getInbox: 'OWNER OPS SUPPORT',
  getPortalInbox: 'ADMIN DEVELOPER FINANCE NONE',
  listAdminPayments: 'OWNER OPS SUPPORT',
  getAdminPayment: 'OWNER OPS SUPPORT',
  streamEvents: 'ADMIN DEVELOPER FINANCE NONE OWNER OPS SUPPORT',
  listStaff: 'OWNER',
  addStaff: 'OWNER',
  changeStaffRole: 'OWNER',
  removeStaff: 'OWNER',
  resetStaffFactor: 'OWNER',
  erasePayer: 'OWNER',
  resetMemberFactor: 'OWNER OPS',
  listStaffClients: 'OWNER',
  createStaffClient: 'OWNER',
  revokeStaffClient: 'OWNER',
  rotateRealmKeys: 'OWNER',

  listConsents: 'ADMIN DEVELOPER FINANCE NONE',
  getConsent: 'ADMIN DEVELOPER FINANCE NONE',
  endConsent: 'ADMIN DEVELOPER NONE',

  // Payers' operations, which accept payers' credentials only (test/payers, test/checkout).
  getCheckout: NOBODY,
  leaveContact: NOBODY,
  signOutPayer: NOBODY,
  listPayerPayments: NOBODY,
  getPayerPayment: NOBODY,
  sendPayerReceipt: NOBODY,
  raisePayerDispute: NOBODY,
  listPayerConsents: NOBODY,
  revokePayerConsent: NOBODY,
  requestLink: open,
  verifyLink: open,
  listBanks: open,

  getService: open,
  whoami: 'ADMIN DEVELOPER FINANCE NONE OWNER OPS SUPPORT',
  bankCallback: open,

  // Customers' operations: the scopes, of which one is enough.
  listAccounts: 'accounts',
  getBalance: 'accounts',
  listAccountTransactions: 'accounts',
  createOrder: 'payments',
  getOrder: 'accounts payments',
  createRecurring: 'payments',
  listRecurring: 'accounts payments',
  getRecurring: 'accounts payments',
  cancelRecurring: 'payments',
  createRequestToPay: 'payments',
  listRequestsToPay: 'accounts payments',
  getRequestToPay: 'accounts payments',
  acceptRequestToPay: 'payments',
  rejectRequestToPay: 'payments',
  createOfferToPay: 'payments',
  listOffersToPay: 'accounts payments',
  getOfferToPay: 'accounts payments',
  acceptOfferToPay: 'payments',
  rejectOfferToPay: 'payments',

  createSandboxMerchant: 'OWNER OPS',
  createSandboxCustomer: 'OWNER OPS',
  listSandboxAccounts: 'OWNER OPS',
  setSandboxAccount: 'OWNER OPS',
  checkBooks: 'OWNER OPS',
  seedSandbox: 'OWNER OPS',
  advanceSandboxClock: 'OWNER OPS',
  readSandboxClock: 'OWNER OPS',
  listMails: 'OWNER OPS',
  getMail: 'OWNER OPS',
}

const { service, idp, person, program, operator, automation } = await serviceWithRealms(t)
const merchant = await service.merchant()

type Caller = { realm: 'merchant' | 'platform' | 'customers' | 'none'; role: string; headers: Record<string, string> }

const CALLERS: Record<string, Caller> = {
  'an ADMIN': { realm: 'merchant', role: 'ADMIN', headers: person(merchant, { roles: ['ADMIN'] }) },
  'a DEVELOPER': { realm: 'merchant', role: 'DEVELOPER', headers: person(merchant, { roles: ['DEVELOPER'] }) },
  'a FINANCE': { realm: 'merchant', role: 'FINANCE', headers: person(merchant, { roles: ['FINANCE'] }) },
  'a credential of ADMIN': { realm: 'merchant', role: 'ADMIN', headers: await program(merchant, 'ADMIN') },
  'a credential of DEVELOPER': { realm: 'merchant', role: 'DEVELOPER', headers: await program(merchant, 'DEVELOPER') },
  'a credential of FINANCE': { realm: 'merchant', role: 'FINANCE', headers: await program(merchant, 'FINANCE') },
  'a credential without a role': { realm: 'merchant', role: 'NONE', headers: await program(merchant, null) },
  "a merchant's person without a role": { realm: 'merchant', role: '-', headers: person(merchant) },
  "a merchant's person with roles nobody knows": {
    realm: 'merchant',
    role: '-',
    headers: person(merchant, { roles: ['NONE', 'OWNER', 'OPS', 'SUPPORT', 'admin', 'offline_access'] }),
  },
  'an OWNER': { realm: 'platform', role: 'OWNER', headers: operator({ roles: ['OWNER'] }) },
  'an OPS': { realm: 'platform', role: 'OPS', headers: operator({ roles: ['OPS'] }) },
  'a SUPPORT': { realm: 'platform', role: 'SUPPORT', headers: operator({ roles: ['SUPPORT'] }) },
  'automation as OWNER': { realm: 'platform', role: 'OWNER', headers: await automation('OWNER') },
  'automation as OPS': { realm: 'platform', role: 'OPS', headers: await automation('OPS') },
  'automation as SUPPORT': { realm: 'platform', role: 'SUPPORT', headers: await automation('SUPPORT') },
  "the platform's person without a role": { realm: 'platform', role: '-', headers: operator() },
  "the platform's person with a merchant's roles": {
    realm: 'platform',
    role: '-',
    headers: operator({ roles: ['ADMIN', 'DEVELOPER', 'FINANCE', 'NONE'] }),
  },
  'a customer who may look at accounts': { realm: 'customers', role: 'accounts', headers: customer('openid accounts') },
  'a customer who may pay': { realm: 'customers', role: 'payments', headers: customer('openid payments') },
  'a customer without scopes': { realm: 'customers', role: '-', headers: customer('openid account payment') },
  nobody: { realm: 'none', role: '-', headers: {} },
}

/** A person who is not a customer of the bank, with roles of other realms, which do not count here. */
function customer(scope: string): Record<string, string> {
  const wish = { clientId: 'customers-cli', roles: ['ADMIN', 'OWNER'], claims: { scope } }
  return { authorization: `Bearer ${idp.mint('customers', wish)}` }
}

/** The code that a caller must be rejected with; undefined where it must be allowed. */
function rejection(may: string, accesses: readonly string[], { realm, role }: Caller): string | undefined {
  if (may === open || may.split(' ').includes(role)) return undefined
  if (realm === 'none' || may === NOBODY) return 'UNAUTHENTICATED'
  if (realm === 'customers' && accesses.includes('customer')) return 'FORBIDDEN_SCOPE'
  const isOwnRealm = accesses.includes(realm) || (realm === 'platform' && accesses.includes('sandbox'))
  return isOwnRealm ? 'FORBIDDEN_ROLE' : 'WRONG_REALM'
}

const STATUS: Record<string, number> = {
  UNAUTHENTICATED: 401,
  WRONG_REALM: 403,
  FORBIDDEN_ROLE: 403,
  FORBIDDEN_SCOPE: 403,
}
/** The error codes of Surface A for them (decision 10). */
const OPEN_BANKING: Record<string, string> = {
  UNAUTHENTICATED: 'UK.OBIE.Header.Invalid',
  WRONG_REALM: 'UK.OBIE.Reauthenticate',
  FORBIDDEN_SCOPE: 'UK.OBIE.Reauthenticate',
}
const REJECTIONS = ['UNAUTHENTICATED', 'TOKEN_EXPIRED', 'UNKNOWN_CLIENT', 'FORBIDDEN_ROLE', 'WRONG_REALM']
const ALLOWED = 'allowed'

const OPERATIONS = [...ROUTES, ...SANDBOX_ROUTES].map((row) => row.operation)

/** The guard as the server has it, with a cache of its own. */
const guard = makeGuard(service.app)

/** What the guard decides: the code of its rejection, or `allowed`. */
async function decide(operation: Operation, headers: Record<string, string>): Promise<string> {
  const id = randomUUID()
  try {
    await guard(operation, { headers, rawHeaders: Object.entries(headers).flat(), params: { id } })
    return ALLOWED
  } catch (error) {
    if (error instanceof DomainError) return error.code
    throw error
  }
}

/** What the service answers: the status and code of a rejection, or `allowed`. The body is one that no operation acts on. */
async function call(operation: Operation, headers: Record<string, string>): Promise<string> {
  const { status, body } = await service.call(operation.method, endingPath(operation), {
    headers,
    ...(hasBody(operation) ? { body: { nothing: true } } : {}),
  })
  const isRejected = status === 401 || status === 403 || REJECTIONS.includes(body?.code)
  return isRejected ? `${status} ${body.code ?? body.Errors?.[0]?.ErrorCode}` : ALLOWED
}

/** Runs a check for each operation at once, a few at a time, and returns the results by the operation's name. */
async function byOperation<T>(operations: readonly Operation[], check: (operation: Operation) => Promise<T>) {
  const results: Record<string, T> = {}
  const rest = [...operations]
  const takeOne = async (): Promise<void> => {
    for (let next = rest.shift(); next !== undefined; next = rest.shift()) results[next.name] = await check(next)
  }
  await Promise.all(Array.from({ length: 8 }, takeOne))
  return results
}

/** The table's decision on each caller: a code, or `allowed`. */
function decisionsOf({ name, access }: Operation): Record<string, string> {
  const decisions = Object.entries(CALLERS).map(([who, caller]) => [
    who,
    rejection(MAY[name] ?? '', access, caller) ?? ALLOWED,
  ])
  return Object.fromEntries(decisions)
}

/** One caller for each decision of the table on the operation: `allowed`, and every code that it rejects callers with. */
function callersByDecision(operation: Operation): Map<string, string> {
  return new Map(Object.entries(decisionsOf(operation)).map(([who, decision]) => [decision, who]))
}

/** What the service answers where the table decides so. */
function answerOf({ access }: Operation, decision: string): string {
  if (decision === ALLOWED) return ALLOWED
  return `${STATUS[decision]} ${access.includes('customer') ? OPEN_BANKING[decision] : decision}`
}

t.test('the table has every operation, and no other', async (t) => {
  t.same(Object.keys(MAY).toSorted(), OPERATIONS.map(({ name }) => name).toSorted())
})

t.test('the guard decides on every role and every operation as the table says', async (t) => {
  const decided = await byOperation(OPERATIONS, async (operation) => {
    const each = Object.entries(CALLERS).map(async ([who, { headers }]) => [who, await decide(operation, headers)])
    return Object.fromEntries(await Promise.all(each))
  })
  t.same(decided, Object.fromEntries(OPERATIONS.map((operation) => [operation.name, decisionsOf(operation)])))
})

t.test('over HTTP, each operation answers a caller of each decision as the guard decides', async (t) => {
  const answered = await byOperation(OPERATIONS, async (operation) => {
    const each = [...callersByDecision(operation)].map(async ([decision, who]) => [
      decision,
      await call(operation, CALLERS[who]?.headers ?? {}),
    ])
    return Object.fromEntries(await Promise.all(each))
  })
  const expected = OPERATIONS.map((operation) => {
    const decisions = [...callersByDecision(operation).keys()]
    return [operation.name, Object.fromEntries(decisions.map((each) => [each, answerOf(operation, each)]))]
  })
  t.same(answered, Object.fromEntries(expected))
})

t.test('the narrower of the role in the token and the role in the row counts', async (t) => {
  const subject = 'ada'
  await service.owner.query(
    `insert into team_members (merchant_id, id, email, role, invited_by) values ($1, $2, 'ada@acme.example', 'DEVELOPER', 'test')`,
    [merchant.id, subject],
  )
  const code = async (headers: Record<string, string>, path: string): Promise<string | undefined> =>
    (await service.call('GET', path, { headers })).body.code
  const asAdmin = person(merchant, { subject, roles: ['ADMIN'] })
  t.equal(await code(asAdmin, '/api/v1/portal/team'), 'FORBIDDEN_ROLE', 'a demoted ADMIN is no longer one')
  t.equal(await code(asAdmin, '/api/v1/portal/webhooks'), undefined, 'but acts as what the row says')
  t.match((await service.call('GET', '/api/v1/whoami', { headers: asAdmin })).body, {
    role: 'DEVELOPER',
    name: 'ada@acme.example',
  })
  const asFinance = person(merchant, { subject, roles: ['FINANCE'] })
  t.equal(await code(asFinance, '/api/v1/payments'), 'FORBIDDEN_ROLE', 'two that have nothing in common allow nothing')

  const other = await service.merchant({ serverRole: 'FINANCE' })
  const escalated = { authorization: `Bearer ${idp.mint(other.realm, { roles: ['ADMIN', 'OWNER'] })}` }
  t.equal(await code(escalated, '/api/v1/portal/team'), 'FORBIDDEN_ROLE', 'a client is no more than its row says')
  t.match((await service.call('GET', '/api/v1/whoami', { headers: escalated })).body, { role: 'FINANCE' })
})

t.test('any role of a token may allow a call, which then runs under that role', async (t) => {
  const headers = person(merchant, { roles: ['FINANCE', 'DEVELOPER'] })
  const refund = `/api/v1/payments/${merchant.id}/refund`
  t.match(await service.call('POST', refund, { headers, body: {} }), { status: 404 })
  t.match(await service.call('GET', '/api/v1/portal/webhooks', { headers }), { status: 200 })
  t.match(await service.call('GET', '/api/v1/portal/team', { headers }), { status: 403 })
  const { body } = await service.call('GET', '/api/v1/whoami', { headers })
  t.equal(body.role, 'DEVELOPER')
  t.same(body.permissions.toSorted(), [
    'create payments',
    'manage checkout',
    'manage settlements',
    'manage signing secret',
    'manage webhooks',
    'read balances',
    'read bank accounts',
    'read branding',
    'read payments',
    'refund payments',
  ])
})

/**
 * Permissions that could regain access, free what was stopped, redirect events or payers, or give money back: cached rows
 * do not count for them. Written down once more, beside the permissions' own table.
 */
const LASTING = [
  'manage team',
  'manage credentials',
  'manage signing secret',
  'manage bank accounts',
  'manage settlements',
  'manage webhooks',
  'manage checkout',
  'manage branding',
  'refund payments',
  'administer platform',
  'operate merchants',
  'operate sandbox',
]
const isLasting = (operation: Operation): boolean =>
  permissionsOfOperation(operation).some((each) => LASTING.includes(each))
const lasting = OPERATIONS.filter(isLasting)

/** A caller that the process has cached, and a change of its row that the process does not see. */
type Ending = {
  name: string
  realm: 'merchant' | 'platform'
  rejected: string
  /** The role that the caller still has. */
  left?: string
  start(): Promise<Started>
}
type Started = { headers: Record<string, string>; end: string; values: unknown[] }

async function startMember(end: string): Promise<Started> {
  const subject = randomUUID()
  await service.owner.query(
    `insert into team_members (merchant_id, id, email, role, invited_by) values ($1, $2, $3, 'ADMIN', 'test')`,
    [merchant.id, subject, `${subject}@acme.example`],
  )
  return { headers: person(merchant, { subject, roles: ['ADMIN'] }), end, values: [subject] }
}

async function startStaff(end: string): Promise<Started> {
  const subject = randomUUID()
  await service.owner.query(
    `insert into platform_users (id, keycloak_user_id, email, display_name, role) values ($1, $2, $3, 'x', 'OWNER')`,
    [randomUUID(), subject, `${subject}@platform.example`],
  )
  return { headers: operator({ subject, roles: ['OWNER'] }), end, values: [subject] }
}

async function startClient(headers: Promise<Record<string, string>>, end: string): Promise<Started> {
  const given = await headers
  const claims = JSON.parse(Buffer.from(given['authorization']?.split('.')[1] ?? '', 'base64url').toString())
  return { headers: given, end, values: [claims.azp] }
}

const ENDINGS: Ending[] = [
  {
    name: 'an ADMIN who was removed',
    realm: 'merchant',
    rejected: 'UNAUTHENTICATED',
    start: () => startMember('update team_members set is_active = false where id = $1'),
  },
  {
    name: 'an ADMIN who was demoted',
    realm: 'merchant',
    rejected: 'FORBIDDEN_ROLE',
    left: 'FINANCE',
    start: () => startMember(`update team_members set role = 'FINANCE' where id = $1`),
  },
  {
    name: 'an ADMIN who was made a DEVELOPER',
    realm: 'merchant',
    rejected: 'FORBIDDEN_ROLE',
    left: 'DEVELOPER',
    start: () => startMember(`update team_members set role = 'DEVELOPER' where id = $1`),
  },
  {
    name: 'a credential of ADMIN that was revoked',
    realm: 'merchant',
    rejected: 'UNAUTHENTICATED',
    start: () =>
      startClient(program(merchant, 'ADMIN'), 'update merchant_client set revoked_at = now() where client_id = $1'),
  },
  {
    name: 'a credential that is no ADMIN any more',
    realm: 'merchant',
    rejected: 'FORBIDDEN_ROLE',
    left: 'FINANCE',
    start: () =>
      startClient(program(merchant, 'ADMIN'), `update merchant_client set role = 'FINANCE' where client_id = $1`),
  },
  {
    name: 'an OWNER who was removed',
    realm: 'platform',
    rejected: 'UNAUTHENTICATED',
    start: () => startStaff('update platform_users set is_active = false where keycloak_user_id = $1'),
  },
  {
    name: 'an OWNER who was demoted',
    realm: 'platform',
    rejected: 'FORBIDDEN_ROLE',
    left: 'SUPPORT',
    start: () => startStaff(`update platform_users set role = 'SUPPORT' where keycloak_user_id = $1`),
  },
  {
    name: 'automation as OWNER that was revoked',
    realm: 'platform',
    rejected: 'UNAUTHENTICATED',
    start: () =>
      startClient(automation('OWNER'), 'update platform_clients set revoked_at = now() where client_id = $1'),
  },
]

for (const { name, realm, rejected, left = '-', start } of ENDINGS) {
  t.test(`${name} can do nothing with a lasting effect, from that moment on`, async (t) => {
    const { headers, end, values } = await start()
    const operations = lasting.filter(
      ({ access }) => access.includes(realm) || (realm === 'platform' && access.includes('sandbox')),
    )
    const decideAll = () => byOperation(operations, (operation) => decide(operation, headers))
    const everywhere = (decision: (operation: Operation) => string) =>
      Object.fromEntries(operations.map((operation) => [operation.name, decision(operation)]))
    const read = realm === 'merchant' ? listPayments : listMerchants
    t.same([await decide(read, headers), await call(read, headers)], [ALLOWED, ALLOWED], 'it is allowed, and cached')
    t.same(
      await decideAll(),
      everywhere(() => ALLOWED),
    )
    await service.owner.query(end, values)
    const isLeft = (operation: Operation) => MAY[operation.name]?.split(' ').includes(left) === true
    t.same(
      await decideAll(),
      everywhere((operation) => (isLeft(operation) ? ALLOWED : rejected)),
    )
    const change = realm === 'merchant' ? inviteTeamMember : addStaff
    t.equal(await call(change, headers), `${STATUS[rejected]} ${rejected}`, 'over HTTP as well')
    t.same(
      [await decide(read, headers), await call(read, headers)],
      [ALLOWED, ALLOWED],
      'reading is allowed for the seconds that the caller is cached',
    )
  })
}

t.test('the operations with a lasting effect are these', async (t) => {
  const isExpected = ({ method, path }: Operation): boolean =>
    /\/(team|api-credentials|staff)/.test(path) || (method !== 'GET' && path.includes('/admin/'))
  t.same(
    OPERATIONS.filter((operation) => isExpected(operation) && !isLasting(operation)).map(({ name }) => name),
    [],
  )
  // Of a merchant's changes, only those of payments and mandates use cached callers: they are many, and give no access.
  const remembered = OPERATIONS.filter(
    (operation) => operation.method !== 'GET' && operation.access.includes('merchant') && !isLasting(operation),
  )
  t.same(remembered.map(({ name }) => name).toSorted(), ['cancelPayment', 'createPayment', 'endConsent'])
  t.same(
    OPERATIONS.filter((operation) => permissionsOfOperation(operation).some(hasLastingEffect)).map(({ name }) => name),
    OPERATIONS.filter(isLasting).map(({ name }) => name),
    'as the permissions say',
  )
})
