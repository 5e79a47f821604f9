import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import t from 'tap'
import { identityOf } from '../../../../cli/service/up/plan.ts'
import { startAll } from '../../../../cli/service/up/start.ts'
import { runCli } from '../../../cli/harness.ts'
import { testService } from '../../../support/app.ts'
import { clientCredentials } from '../../../support/identity.ts'
import { mailsTo, runningKeycloak } from '../../../support/keycloak.ts'
import { smtpSink } from '../../../support/smtp-sink.ts'
import { until } from '../../../support/until.ts'

/*
 * What an operator with a Keycloak types, from the first command to money that has settled. Runs alone: services of one
 * Keycloak share its realms platform, customers and demo.
 */
const { authUrl, clientId, clientSecret } = runningKeycloak()
const secrets = { SVC_KEYCLOAK_CLIENT_ID: clientId, SVC_KEYCLOAK_CLIENT_SECRET: clientSecret }
const mark = randomUUID().slice(0, 8)
const SLUG = `happy-${mark}`
const KEYCLOAK = ['--idp', 'keycloak', '--auth-url', authUrl]

t.test('svc staff bootstrap makes Keycloak send the first OWNER a mail, and fails without a mail server', async (t) => {
  const sink = await smtpSink(t)
  const key = { SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64') }
  const identity = { SVC_IDENTITY: 'keycloak', SVC_AUTH_URL: authUrl, ...secrets }
  const service = await testService(t, { env: { ...key, ...identity } })
  const env = { ...key, ...identity, SVC_DATABASE_URL: service.databaseUrl, SVC_PUBLIC_URL: service.url }
  const email = `ada-${mark}@pay.example`
  const without = await runCli(['staff', 'bootstrap', '--email', email], { env })
  t.match(without, { code: 2, stderr: /SVC_SMTP_URL is missing/ })
  const made = await runCli(['staff', 'bootstrap', '--email', email, '--json'], {
    env: { ...env, SVC_SMTP_URL: sink.url },
  })
  t.equal(made.code, 0, made.stderr)
  t.match(JSON.parse(made.stdout), { email, link: null, delivered: 'mail', role: 'OWNER' })
  t.match(mailsTo(sink, email).join(''), `${authUrl}/realms/platform/login-actions/action-token`)
  const looked = await runCli(['doctor', '--only', 'identity', '--json'], { env })
  t.equal(looked.code, 0, `the environment alone is enough to be looked over: ${looked.stdout}${looked.stderr}`)
  const wrong = { ...env, SVC_KEYCLOAK_CLIENT_SECRET: 'wrong' }
  const found = await runCli(['doctor'], { env: wrong })
  t.match(found, { code: 1, stdout: /health +FINDING: .*401/ })
  t.notMatch(found.stdout, clientSecret)
})

t.test('svc up, register, approve, a token of Keycloak, a payment that settles, and a clean svc doctor', async (t) => {
  const sink = await smtpSink(t)
  const stateDir = mkdtempSync(join(tmpdir(), 'svc-happy-'))
  t.teardown(() => rmSync(stateDir, { recursive: true, force: true }))
  const running = await startAll(
    {
      stateDir,
      port: 0,
      database: { kind: 'embedded' },
      ...identityOf({ idp: 'keycloak', authUrl }, secrets),
      env: { ...secrets, SVC_SMTP_URL: sink.url, SVC_LOG_LEVEL: 'error' },
      logLevel: 'warn',
      note: () => undefined,
    },
    new AbortController().signal,
  )
  t.teardown(() => running.stop())
  const { state } = running
  t.equal(state.auth_url, authUrl)
  t.match(state, { merchant: { realm: 'demo', client_id: 'demo-server' }, operator: { realm: 'platform' } })
  const env = { SVC_STATE_DIR: stateDir }

  const email = `ada@${SLUG}.example`
  const registration = ['register', '--company', SLUG, '--trading-name', SLUG, '--email', email]
  const registered = await runCli([...registration, '--json'], { env })
  t.equal(registered.code, 0, registered.stderr)
  const merchant = JSON.parse(registered.stdout)
  t.match(merchant, { realm_slug: SLUG, issuer: `${authUrl}/realms/${SLUG}` })
  const approved = await runCli(['kyb', 'approve', SLUG, '--reason', 'documents checked'], { env })
  t.equal(approved.code, 0, approved.stderr)

  const server = { clientId: merchant.client_id, secret: merchant.client_secret }
  const { body: grant } = await clientCredentials(authUrl, { slug: SLUG, server })
  t.match(decodeJwt(grant.access_token), { iss: `${authUrl}/realms/${SLUG}`, azp: merchant.client_id })
  const asMerchant = { ...env, SVC_TOKEN: grant.access_token }
  const pay = ['payments', 'create', '--amount', '50.00', '--currency', 'GBP', '--approve', '--wait', 'Settled']
  const paid = await runCli([...pay, '--json'], { env: asMerchant })
  t.equal(paid.code, 0, paid.stderr)
  t.match(JSON.parse(paid.stdout), { status: 'Settled', gross_amount: '50.00', fee_amount: '0.70' })
  const demo = await runCli([...pay, '-q', 'status'], { env })
  t.match(demo, { code: 0, stdout: 'Settled\n' }, 'the demo merchant too, by the client of svc.json')

  await until('the administrator is invited', () => mailsTo(sink, email).length > 0)
  const looked = await runCli(['doctor', '--only', 'identity', '--json'], { env })
  t.equal(looked.code, 0, looked.stdout + looked.stderr)
  const { healthy, checks } = JSON.parse(looked.stdout)
  t.ok(healthy)
  t.ok(
    checks.every((each: { state: string }) => each.state === 'ok'),
    looked.stdout,
  )
})

t.test('a service reuses the realms that another run left at the same Keycloak', async (t) => {
  const run = ['sandbox', 'run', 'happy-path', '--ephemeral', ...KEYCLOAK]
  const { code, stdout, stderr } = await runCli(run, { env: { ...secrets, SVC_LOG_LEVEL: 'fatal' } })
  t.equal(code, 0, stdout + stderr)
})
