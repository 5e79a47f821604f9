import t from 'tap'
import { fakeAdmin, pageOf } from './admin-harness.ts'
import { PAYMENT_ID, fakeService, runCli, serviceInfo } from './harness.ts'
import type { Outcome } from './harness.ts'

const AT = { bank_reference: null, created_at: '2026-11-21T09:30:00.000Z', updated_at: '2026-11-21T09:30:00.000Z' }

t.test('what can not be refused by a look at it says what it would do', async (t) => {
  const { url, requests } = await fakeService(t, () => ({ json: {} }))
  const run = (...words: string[]): Promise<Outcome> =>
    runCli([...words, '--dry-run', '--api-url', url, '--client-id', 'demo'])
  t.match((await run('credentials', 'revoke', 'acme-key-1')).stdout, /Effect +this would revoke the client acme-key-1/)
  t.match((await run('bank-accounts', 'disable', PAYMENT_ID)).stdout, /Effect +this would end payouts/)
  t.ok(requests.every(({ method }) => method === 'GET'))
})

t.test('an invitation of somebody who is there says what would come of it', async (t) => {
  const person = { id: PAYMENT_ID, is_active: true, created_at: AT.created_at }
  const member = { ...person, email: 'grace@acme.example', role: 'DEVELOPER', invited_by: 'ada' }
  const staff = { ...person, keycloak_user_id: 's', display_name: 'Ada', role: 'OPS', last_seen_at: AT.created_at }
  const people = [
    { ...staff, email: 'seen@pay.example' },
    { ...staff, email: 'invited@pay.example', last_seen_at: null },
    { ...staff, email: 'gone@pay.example', is_active: false },
  ]
  const admin = await fakeAdmin(t, ({ path }) => pageOf(path.includes('/staff') ? people : [member]))
  const invite = (email: string) =>
    admin.run(['team', 'invite', '--email', email, '--role', 'FINANCE', '--client-id', 'acme', '--dry-run'])
  t.match(await invite('new@acme.example'), {
    code: 0,
    stdout: /Effect +this would invite new@acme.example as FINANCE/,
  })
  t.match(await invite('Grace@acme.example'), {
    code: 0,
    stdout: /in the team already, DEVELOPER: this would be refused if/,
  })
  const add = async (email: string, identity: string): Promise<Outcome> => {
    const { url } = await fakeService(t, ({ path }) =>
      path.endsWith('/service') ? { json: serviceInfo({ identity }) } : pageOf(people),
    )
    const words = ['staff', 'invite', '--email', email, '--role', 'OPS', '--reason', 'r', '--dry-run']
    return runCli([...words, '--api-url', url])
  }
  t.match(await add('seen@pay.example', 'embedded'), {
    code: 7,
    stdout: '',
    stderr: /a staff member with this e-mail address already exists\nTry: svc .*staff role seen@pay.example OPS/,
  })
  t.match(await add('seen@pay.example', 'none'), { code: 0, stdout: /another invitation/ })
  t.match(await add('invited@pay.example', 'embedded'), { code: 0, stdout: /another invitation/ })
  t.match(await add('gone@pay.example', 'embedded'), { code: 0, stdout: /once more, as OPS/ })
  t.match(await add('new@pay.example', 'embedded'), { code: 0, stdout: /this would invite new@pay.example as OPS/ })
  t.same(admin.writes(), [])
})
