import t from 'tap'
import { rolesWith } from '../../src/lib/permissions.ts'
import { permissionsOfOperation } from '../../src/wire/operation.ts'
import type { Access } from '../../src/wire/operation.ts'
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes.ts'
import { liveEnv } from '../support/live.ts'
import { serviceWithRealms, somePath } from '../support/realms.ts'

const OPERATIONS = [...ROUTES, ...SANDBOX_ROUTES].map((row) => row.operation)
const FRESH = OPERATIONS.filter(({ needsFreshSignIn }) => needsFreshSignIn === true)
const MERCHANTS = FRESH.filter(({ access }) => access.includes('merchant'))
const OPERATORS = FRESH.filter(({ access }) => access.includes('platform'))

/** What merchants may change without it, and why (decision 406). */
const MERCHANTS_WITHOUT: Readonly<Record<string, string>> = {
  acceptDispute: 'gives back what is left of the payment, to the account that paid',
  cancelPayment: 'ends a payment before money has moved',
  checkWebhookEndpoint: 'sends no event',
  closeSettlements: 'changes when, not where to',
  createPayment: 'asks a payer for money, who approves it at the bank, or within a mandate that the payer has approved',
  endConsent: 'ends a mandate: less money moves',
  putBranding: 'changes the look: the account that is paid stays',
  putSettlementSchedule: 'changes when, not where to',
  raiseDispute: 'moves no money: it is resolved apart',
  refundPayment: 'gives back at most the payment, to the account that paid',
  replayWebhook: 'sends an event again to the same address',
  replayWebhooks: 'sends events again to the same address',
  submitEvidence: 'moves no money: an operator resolves the dispute',
  testWebhook: 'sends a test event to the same address',
}

/** What operators may change without it, and why. */
const OPERATORS_WITHOUT: Readonly<Record<string, string>> = {
  escalateDispute: 'moves no money: an OWNER then resolves it',
  raiseAdminDispute: 'moves no money: it is resolved apart',
  replayForMerchant: 'sends an event again to the address of the merchant',
  setLimits: 'limits new payments, which payers approve',
  setSettlementSchedule: 'changes when, not where to',
  testBank: 'reads from the bank',
}

/** The operations that change something without it. */
function unprotected(who: Access): string[] {
  return OPERATIONS.filter(
    ({ method, access, permission, needsFreshSignIn }) =>
      method !== 'GET' && access.includes(who) && permission !== 'operate sandbox' && needsFreshSignIn !== true,
  )
    .map(({ name }) => name)
    .toSorted()
}

const CODE = 'INSUFFICIENT_USER_AUTHENTICATION'
const ago = (seconds: number): number => Math.floor(Date.now() / 1_000) - seconds
/** A sign-in of some seconds ago, at a level. */
const at = (seconds: number, acr = '2') => ({ auth_time: ago(seconds), acr })

const { service, idp, person, program, operator, automation } = await serviceWithRealms(t, { env: await liveEnv() })
const merchant = await service.merchant()

t.test('what moves money or makes credentials says so', async (t) => {
  t.same(FRESH.map(({ name }) => name).toSorted(), [
    'addBankAccount',
    'addStaff',
    'changeStaffRole',
    'changeTeamRole',
    'correctBalance',
    'createApiCredential',
    'createPayoutFile',
    'createStaffClient',
    'creditReturnedRefund',
    'disableBankAccount',
    'endSecretOverlap',
    'erasePayer',
    'failPayout',
    'failRefund',
    'getPayoutFile',
    'importPayoutReport',
    'importStatements',
    'inviteTeamMember',
    'putCheckoutOrigins',
    'putWebhookEndpoint',
    'registerAtBank',
    'removeStaff',
    'removeTeamMember',
    'repairRegistration',
    'resetMemberFactor',
    'resetStaffFactor',
    'resetTeamFactor',
    'resolveDispute',
    'resolvePayment',
    'resolveStatementLine',
    'retryPayout',
    'revokeApiCredential',
    'revokeStaffClient',
    'rotateApiCredential',
    'rotateRealmKeys',
    'rotateWebhookSecret',
    'setFees',
    'setKybStatus',
    'setMerchantActive',
    'setPayoutHold',
    'setSoftwareStatement',
  ])
  t.same(
    OPERATIONS.filter(
      ({ method, permission, needsFreshSignIn }) =>
        method !== 'GET' &&
        needsFreshSignIn !== true &&
        typeof permission === 'string' &&
        ['manage signing secret', 'manage bank accounts', 'manage team', 'manage credentials'].includes(permission),
    ).map(({ name }) => name),
    [],
    'no change under these permissions is left out',
  )
  t.same(unprotected('platform'), Object.keys(OPERATORS_WITHOUT), 'operators change nothing else without it')
  t.same(unprotected('merchant'), Object.keys(MERCHANTS_WITHOUT), 'merchants change nothing else without it')
})

t.test(
  'people who may do it need a second factor for any sign-in, so that no password sets one up for it',
  async (t) => {
    const roles = new Set(
      FRESH.flatMap((operation) => permissionsOfOperation(operation)).flatMap((each) => rolesWith(each)),
    )
    t.ok(roles.has('DEVELOPER'), 'who rotates the signing secret')
    t.same(
      [...roles].filter((role) => !service.app.config.secondFactorRoles.has(role)),
      [],
    )
  },
)

t.test('every such operation rejects people whose sign-in is old, dated ahead, or lacks the factor', async (t) => {
  Object.assign(idp, { kind: 'embedded' })
  t.ok(MERCHANTS.length > 5 && OPERATORS.length > 5)
  for (const operation of FRESH) {
    const isMerchants = operation.access.includes('merchant')
    const as = (claims: Record<string, unknown>) =>
      isMerchants ? person(merchant, { roles: ['ADMIN'], claims }) : operator({ roles: ['OWNER'], claims })
    for (const claims of [at(700), at(-3_600), at(5, '1'), { acr: '2' }, { auth_time: ago(5) }]) {
      const refused = await service.call(operation.method, somePath(operation.path), { headers: as(claims), body: {} })
      t.match(refused, { status: 401, body: { code: CODE, next: /svc login --second-factor/ } }, operation.name)
      t.equal(
        refused.headers['www-authenticate'],
        'Bearer error="insufficient_user_authentication", acr_values="2", max_age="600"',
      )
    }
    const passed = await service.call(operation.method, somePath(operation.path), { headers: as(at(5)), body: {} })
    t.not(passed.body?.code, CODE, `${operation.name} takes a new sign-in`)
    const ahead = await service.call(operation.method, somePath(operation.path), { headers: as(at(-2)), body: {} })
    t.not(ahead.body?.code, CODE, `${operation.name} takes one that is dated to the next second, after a reset`)
    const machine = isMerchants ? await program(merchant, 'ADMIN') : await automation('OWNER')
    const byProgram = await service.call(operation.method, somePath(operation.path), { headers: machine, body: {} })
    if (/^reset\w+Factor$/.test(operation.name)) {
      t.match(
        byProgram,
        { status: 403, body: { code: 'FORBIDDEN_ROLE', error: /a program may not/ } },
        `${operation.name} is for people`,
      )
    } else t.not(byProgram.body?.code, CODE, `${operation.name} takes programs as before`)
  }
})

t.test('a role that may not do it gets no advice to sign in again', async (t) => {
  const headers = person(merchant, { roles: ['FINANCE'], claims: at(700) })
  t.match(await service.call('POST', '/api/v1/portal/team', { headers, body: {} }), {
    status: 403,
    body: { code: 'FORBIDDEN_ROLE' },
  })
  const reading = person(merchant, { roles: ['ADMIN'], claims: at(7_000, '1') })
  t.equal((await service.call('GET', '/api/v1/portal/team', { headers: reading })).status, 200, 'reading needs nothing')
})

t.test('with Keycloak the time of the sign-in counts, and the factor that its tokens name', async (t) => {
  Object.assign(idp, { kind: 'keycloak' })
  const ask = (claims: Record<string, unknown>) =>
    service.call('POST', '/api/v1/portal/team', { headers: person(merchant, { roles: ['ADMIN'], claims }), body: {} })
  t.equal((await ask(at(5, '1'))).body.code, CODE)
  t.equal((await ask({ ...at(5, '1'), amr: [] })).body.code, CODE, 'a realm that names nothing')
  t.not((await ask({ ...at(5, '1'), amr: ['hwk'] })).body.code, CODE, 'a key instead of a password')
  t.not((await ask({ ...at(5, '1'), amr: ['pwd', 'otp'] })).body.code, CODE)
  t.equal((await ask({ ...at(5, '1'), amr: ['pwd'] })).body.code, CODE)
  t.not((await ask({ ...at(5, '2'), amr: ['pwd'] })).body.code, CODE, 'a realm whose flow has a second level')
  t.equal((await ask({ ...at(700, '2'), amr: ['pwd'] })).body.code, CODE)
  const old = await ask(at(700, '1'))
  t.match(old, { status: 401, body: { code: CODE } })
  t.equal(
    old.headers['www-authenticate'],
    'Bearer error="insufficient_user_authentication", acr_values="2", max_age="600"',
  )
})

t.test('in the sandbox no operation asks for it', async (t) => {
  const sandbox = await serviceWithRealms(t)
  const shop = await sandbox.service.merchant()
  const headers = sandbox.person(shop, { roles: ['ADMIN'], claims: at(7_000, '1') })
  t.not((await sandbox.service.call('POST', '/api/v1/portal/team', { headers, body: {} })).body.code, CODE)
})
