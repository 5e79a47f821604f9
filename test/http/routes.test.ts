import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes.ts'
import { packageRoot } from '../../src/lib/package-root.ts'

const ALL = [...ROUTES, ...SANDBOX_ROUTES]

t.test("an operation's handler has the operation's name", async (t) => {
  t.same(
    ALL.map(({ handlerName }) => handlerName),
    ALL.map(({ operation }) => operation.name),
  )
})

t.test('an operation has one row', async (t) => {
  const names = ALL.map(({ operation }) => operation.name)
  t.same(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  )
})

/**
 * Operations that differ from another only in their caller or in a word, with the use case that their handlers call; null
 * for those that their handlers answer by themselves (decision 240).
 */
const SHARED: Record<string, string | null> = {
  putSettlementSchedule: 'setSettlementSchedule',
  explainForMerchant: 'explain',
  explainForOperator: 'explain',
  getPortalReconciliation: 'getReconciliation',
  listAdminPayouts: 'listPayouts',
  getAdminPayout: 'getPayout',
  listAdminSettlements: 'listSettlements',
  getAdminSettlement: 'getSettlement',
  listAdminSettlementLines: 'listSettlementLines',
  listAdminDisputes: 'listDisputes',
  getAdminDispute: 'getDispute',
  raiseAdminDispute: 'raiseDispute',
  disputeAsPayer: 'raiseDispute',
  getPortalOverview: 'getOverview',
  getPortalInbox: 'getInbox',
  createRequestToPay: 'createRequest',
  listRequestsToPay: 'listRequests',
  getRequestToPay: 'getRequest',
  acceptRequestToPay: 'acceptRequest',
  rejectRequestToPay: 'rejectRequest',
  createOfferToPay: 'createRequest',
  listOffersToPay: 'listRequests',
  getOfferToPay: 'getRequest',
  acceptOfferToPay: 'acceptRequest',
  rejectOfferToPay: 'rejectRequest',
  streamEvents: null,
  getService: null,
  whoami: null,
  listBanks: null,
}
/** Files of one operation that are named for what they are about. */
const OF_A_NOUN = ['setSoftwareStatement', 'listBankScenarios']

const USE_CASES = globSync('src/*/**/*.ts', { cwd: packageRoot() })
  .filter((path) => !/^src\/(?:wire|http)\/|sql\.ts$/.test(path))
  .flatMap((path) =>
    [
      ...readFileSync(join(packageRoot(), path), 'utf8').matchAll(/^export (?:async )?(?:function\*?|const) (\w+)/gm),
    ].map(([, name = '']) => ({ name, file: basename(path, '.ts') })),
  )

t.test('the use case of an operation has its name, in a file of that name or of its resource', async (t) => {
  const names = ALL.map(({ operation }) => operation.name)
  for (const name of names) {
    const shared = SHARED[name]
    if (shared !== undefined) {
      t.notOk(
        USE_CASES.some((each) => each.name === name),
        `${name} has a use case of its own`,
      )
      t.ok(shared === null || USE_CASES.some((each) => each.name === shared), `${name}: ${shared} exists`)
      continue
    }
    const file = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    const found = USE_CASES.filter((each) => each.name === name)
    const isOfResource = found.some((own) =>
      USE_CASES.some((each) => each.file === own.file && each.name !== name && names.includes(each.name)),
    )
    t.ok(found.some((own) => own.file === file) || isOfResource || OF_A_NOUN.includes(name), name)
  }
  t.same(
    Object.keys(SHARED).filter((name) => !names.includes(name)),
    [],
  )
})
