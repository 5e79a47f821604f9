import t from 'tap'
import type { Test } from 'tap'
import { BANK, STATEMENT, inDays } from './bank-setup.ts'
import { fakeService, refusal, runCli } from './harness.ts'

type Checks = Record<string, { state: string; text: string; fix: string | null }>

/** What the checks of banks are for a service that answers this. */
async function checksOf(t: Test, data: readonly object[], statement: object | null): Promise<Checks> {
  const { url } = await fakeService(t, ({ path }) => {
    if (path === '/api/v1/service')
      return {
        json: {
          mode: 'live',
          identity: 'none',
          auth_url: null,
          name: 'svc',
          version: '0.1.0',
          platform_realm: 'platform',
          customers_realm: 'customers',
        },
      }
    return path === '/api/v1/admin/banks'
      ? { json: { data, software_statement: statement } }
      : refusal(404, 'NOT_FOUND')
  })
  const env = { SVC_API_URL: url, SVC_PLATFORM_USER: 'ada' }
  const { stdout } = await runCli(['doctor', '--only', 'banks', '--json'], { env })
  return Object.fromEntries(JSON.parse(stdout).checks.map((each: { check: string }) => [each.check, each]))
}

t.test('banks that are well', async (t) => {
  const checks = await checksOf(t, [BANK], STATEMENT)
  t.same([...new Set(Object.values(checks).map(({ state }) => state))], ['ok'])
  t.match(checks['assertion'], { text: /has no end/ })
})

t.test('what ends within thirty days, and what has ended', async (t) => {
  const soon = await checksOf(t, [BANK], { ...STATEMENT, certificate_ends_at: inDays(29), ssa_ends_at: inDays(31) })
  t.match(soon['certificate'], { state: 'finding', text: /in 29 days/, fix: /^svc banks rotate-keys --file/ })
  t.equal(soon['assertion']?.state, 'ok')
  const ended = await checksOf(t, [BANK], { ...STATEMENT, certificate_ends_at: inDays(-2), ssa_ends_at: inDays(3) })
  t.match(ended['certificate'], { state: 'finding', text: /ended on .*: banks reject every call/ })
  t.equal(ended['assertion']?.state, 'finding')
  const inFile = await checksOf(t, [BANK], { ...STATEMENT, source: 'file', ssa_ends_at: inDays(3) })
  t.match(inFile['assertion'], { text: /in 3 days; put the new one into its file/, fix: /statement show$/ })
})

t.test('what is missing, and what to type', async (t) => {
  t.match(await checksOf(t, [], null), { banks: { state: 'skipped', text: 'no bank is configured' } })
  t.match(await checksOf(t, [BANK], null), {
    'software statement': { state: 'finding', fix: /software-statement set/ },
  })
  const checks = await checksOf(
    t,
    [
      { ...BANK, id: 'first', client_id: null, is_proven: false, last_test: null },
      { ...BANK, id: 'second', last_test: { ...BANK.last_test, passed: false }, available: false },
    ],
    STATEMENT,
  )
  t.match(checks, {
    registrations: { state: 'finding', text: /first/, fix: 'svc banks connect first --reason "..."' },
    tests: { state: 'finding', text: /second/, fix: 'svc banks test second' },
    answers: { state: 'finding', text: /^payers are not offered second: no answer$/ },
  })
  const unproven = await checksOf(t, [{ ...BANK, is_proven: false, last_test: null }], STATEMENT)
  t.match(unproven['tests'], { state: 'remark', text: 'unproven: model' })
})
