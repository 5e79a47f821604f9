import { readFileSync } from 'node:fs'
import t from 'tap'
import type { Test } from 'tap'
import { headerCredentials, serviceCredentials } from '../../cli/client/auth/credentials.ts'
import { makeClient } from '../../cli/client/call.ts'
import type { Client } from '../../cli/client/call.ts'
import { listBuiltIns } from '../../cli/scenario/read/find-files.ts'
import { playCase } from '../../cli/scenario/play/play.ts'
import type { CaseResult } from '../../cli/scenario/play/play.ts'
import { VERB_NAMES } from '../../cli/scenario/language.ts'
import { loadScenarios } from '../../cli/scenario/read/load.ts'
import { reported } from '../../cli/scenario/reporters/reported.ts'
import { openReporters } from '../../cli/scenario/reporters/open.ts'
import { playAll } from '../../cli/scenario/play/play-all.ts'
import { SCENARIO_NAMES } from '../../src/banks/scenarios.ts'
import { packageRoot } from '../../src/lib/package-root.ts'
import { PLATFORM_REALM } from '../../src/lib/realms.ts'
import type { PlatformRole } from '../../src/lib/permissions.ts'
import { createStaffClient } from '../../src/staff/staff-clients.ts'
import { ensurePlatform } from '../../src/staff/ensure-platform.ts'
import { makeIo } from '../cli/harness.ts'
import { testService } from '../support/app.ts'
import { PAY, casesOf, scenarioOf } from './read.ts'

const SERVICE = testService(t, { worker: true, env: { SVC_IDENTITY: 'embedded', SVC_VRP_CAPS: 'enforce' } })
const LIBRARY = 'examples/scenarios'
const NEVER = new AbortController().signal

async function clientOf(t: Test, role: PlatformRole = 'OPS'): Promise<{ client: Client; secret: string }> {
  const { app, url } = await SERVICE
  await ensurePlatform(app)
  const actor = { id: 'test', name: 'test', role: 'OWNER' }
  const made = await createStaffClient(app, { name: 'scenarios', role, actor })
  const secret = made.client_secret ?? ''
  const platform = { realm: PLATFORM_REALM, clientId: made.client_id, clientSecret: secret }
  const client = makeClient({
    apiUrl: url,
    credentials: serviceCredentials({ authUrl: url, platform }),
    timeoutMs: 15_000,
  })
  t.teardown(() => client.close())
  return { client, secret }
}

async function play(client: Client, text: string): Promise<CaseResult> {
  const [scenario] = casesOf(text)
  if (scenario === undefined) throw new Error('no case')
  return playCase(client, scenario, { timeoutMs: 30_000, signal: NEVER, rerun: () => '' })
}

t.test('the whole library plays with real tokens as it is written, four cases at a time', async (t) => {
  // As the operator that `svc up` makes: an escalated dispute is resolved by an OWNER alone.
  const { client } = await clientOf(t, 'OWNER')
  const { cases, mistakes } = loadScenarios([LIBRARY], { cwd: packageRoot(), vars: {} })
  t.same(mistakes, [])
  const report = ({ scenario: { file, name }, failure }: CaseResult): void =>
    void t.equal(failure?.message, undefined, `${file}: ${name} ${failure?.title ?? ''}`)
  const options = { bail: false, parallel: 4, timeoutMs: 60_000, signal: NEVER, seed: 'library', rerun: () => '' }
  await playAll(client, cases, { ...options, report })
  const played = new Set(cases.flatMap(({ steps }) => steps.map(({ verb }) => verb)))
  t.same(
    VERB_NAMES.filter((verb) => ![...played, 'exec'].includes(verb)),
    [],
    'each verb is shown; a library runs no commands',
  )
  const text = listBuiltIns()
    .map(({ path }) => readFileSync(path, 'utf8'))
    .join('')
  const behaviours = SCENARIO_NAMES.map((name) => name.replace(/:.*/, ''))
  t.same(
    behaviours.filter((name) => !text.includes(name)),
    [],
    'and each behaviour of the bank',
  )
  for (const { name, path, title } of listBuiltIns())
    t.ok(readFileSync(path, 'utf8').startsWith(`# ${title}`), `${name} begins with its title`)
})

t.test('a request of a step is proven as its path asks: the merchant, or for operators the operator', async (t) => {
  const { client } = await clientOf(t)
  const { failure } = await play(
    client,
    scenarioOf([
      PAY,
      'http: { get: /payments, expect: { body: { data: [{ payment_id: $p1.payment_id }] } } }',
      'http: { get: "/admin/merchants/$merchant.merchant_id", expect: { http: 200 } }',
      'http: { get: /payments, headers: { Authorization: none } }\n    expect_error: { http: 401 }',
    ]),
  )
  t.equal(failure, undefined, failure?.message ?? '')
})

t.test("no report prints a token, or a client's secret", async (t) => {
  const { client, secret } = await clientOf(t)
  const failing = [
    'http: { get: /payments/nothing }',
    'http: { post: /portal/api-credentials, body: { name: x }, expect: { http: 418 } }',
    'http: { post: /portal/api-credentials, body: { name: x }, expect: { body: { client_secret: guessed } } }',
  ]
  for (const form of ['pretty', 'tap', 'junit', 'json']) {
    const { io, stdout } = makeIo({})
    const cases = casesOf(failing.map((step) => scenarioOf([step])).join('---\n'))
    const reporter = openReporters([form], { io, paint: (_style, text) => text })
    const summary = await reported(reporter, { cases, signal: NEVER }, (report) =>
      playAll(client, cases, {
        report,
        bail: false,
        parallel: 1,
        timeoutMs: 30_000,
        signal: NEVER,
        rerun: () => 'again',
      }),
    )
    t.equal(summary.failed, failing.length, form)
    const told = stdout.join('')
    t.match(told, /authorization: \*\*\*/i, form)
    t.notMatch(told, /Bearer (?!\*)|eyJ/, form)
    t.notOk(told.includes(secret), form)
    // What was made in the second and third case was shown masked.
    t.notMatch(told, /client_secret[\\"]*:[\\"]*(?!\*)[\w-]{8}/, form)
  }
})

t.test('where the caller may not create merchants the run ends, with the reason', async (t) => {
  const { client } = await clientOf(t, 'SUPPORT')
  await t.rejects(play(client, scenarioOf([PAY])), { code: 'FORBIDDEN_ROLE', options: { exit: 5 } })
  const unproven = makeClient({
    apiUrl: client.apiUrl,
    credentials: headerCredentials({ clientId: undefined, platformUser: 'ada' }),
    timeoutMs: 15_000,
  })
  t.teardown(() => unproven.close())
  await t.rejects(play(unproven, scenarioOf([PAY])), { code: 'UNAUTHENTICATED', options: { exit: 4 } })
})
