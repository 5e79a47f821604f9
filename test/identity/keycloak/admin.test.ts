import t from 'tap'
import { z } from 'zod'
import { adminPath, makeAdmin } from '../../../src/identity/keycloak/admin.ts'
import type { Admin, AdminCall } from '../../../src/identity/keycloak/admin.ts'
import { keysOf } from '../../../src/identity/keycloak/keys.ts'
import { IdentityUnavailableError } from '../../../src/identity/provider.ts'
import { FAKE_SECRET, FAKE_TOKEN, fakeKeycloak } from '../../support/fake-keycloak.ts'
import type { FakeKeycloak } from '../../support/fake-keycloak.ts'

function adminOf({ url }: Pick<FakeKeycloak, 'url'>, clientSecret = FAKE_SECRET): Admin {
  const mail = {
    sslRequired: 'none',
    smtpUrl: undefined,
    mailFrom: 'svc <svc@example.com>',
    secondFactorRoles: new Set<string>(),
  } as const
  return makeAdmin({ authUrl: url, clientId: 'svc-provisioner', clientSecret, ...mail })
}

const GET = { to: 'find a realm', method: 'GET', path: adminPath('acme') } as const

/** The message of a failure, which every failure of the provider has. */
async function messageOf(failing: Promise<unknown>): Promise<string> {
  try {
    await failing
    return 'it did not fail'
  } catch (error) {
    return error instanceof IdentityUnavailableError ? error.message : `not the right error: ${String(error)}`
  }
}

t.test('one token serves all calls until shortly before its end', async (t) => {
  const fake = await fakeKeycloak(t, () => ({ status: 200, json: {} }))
  const admin = adminOf(fake)
  await Promise.all(Array.from({ length: 20 }, () => admin.call(GET)))
  t.equal(fake.tokens(), 1)
  t.ok(fake.requests.every(({ authorization }) => authorization === `Bearer ${FAKE_TOKEN}1`))
  admin.renew()
  fake.expiresIn(10)
  await admin.call(GET)
  await admin.call(GET)
  t.equal(fake.tokens(), 3, 'ten seconds are too few to be used again')
})

t.test('a rejected token is replaced once', async (t) => {
  const fake = await fakeKeycloak(t, ({ authorization, path }) => ({
    status: path.includes('forbidden') ? 403 : authorization?.endsWith('1') === true ? 401 : 200,
    json: {},
  }))
  const admin = adminOf(fake)
  t.equal((await admin.call(GET)).status, 200)
  t.equal(fake.tokens(), 2)
  t.match(
    await messageOf(admin.call({ ...GET, path: adminPath('forbidden') })),
    /could not find a realm: it responded with 403/,
  )
  t.equal(fake.tokens(), 3)
})

t.test('no error contains the secret or a token', async (t) => {
  const fake = await fakeKeycloak(t, ({ authorization, body }) => ({
    status: 400,
    json: { errorMessage: `${authorization ?? ''}\n${FAKE_SECRET} ${body} ${'x'.repeat(1_000)}` },
  }))
  const said = await messageOf(adminOf(fake).call(GET))
  t.match(said, /responded with 400, Bearer \[redacted\] \[redacted\]/)
  t.ok(said.length < 400, 'and it is short')
  t.notMatch(said, FAKE_TOKEN)
  const refused = await messageOf(adminOf(fake, 'an0ther-secret').call(GET))
  t.match(refused, /could not give an admin token: it responded with 401/)
  t.notMatch(refused, 'an0ther-secret')
})

t.test('no response, a late one, a redirect and invalid text are the same error', async (t) => {
  t.match(await messageOf(adminOf({ url: 'http://127.0.0.1:1' }).call(GET)), /the connection failed \(ECONNREFUSED\)/)
  const silent = await fakeKeycloak(t, () => undefined)
  t.match(await messageOf(adminOf(silent).call({ ...GET, timeoutMs: 50 })), /could not find a realm: it timed out/)
  const elsewhere = await fakeKeycloak(t, () => ({ status: 302 }))
  t.match(await messageOf(adminOf(elsewhere).call(GET)), /it responded with 302/)
  const odd = await fakeKeycloak(t, () => ({ status: 200, json: ['odd'] }))
  t.match(await messageOf(adminOf(odd).read(GET, z.object({ realm: z.string() }))), /its response is not valid/)
})

t.test('a failed connection is retried once, but no creation is repeated', async (t) => {
  const fake = await fakeKeycloak(t, (_request, res) => {
    if (fake.requests.length % 2 === 0) return { status: 200, json: {} }
    res.destroy()
    return undefined
  })
  const admin = adminOf(fake)
  t.equal((await admin.call(GET)).status, 200)
  t.equal(fake.requests.length, 2)
  t.match(
    await messageOf(admin.call({ to: 'make a user', method: 'POST', path: adminPath('acme', 'users') })),
    /connection/,
  )
  t.equal(fake.requests.length, 3)
})

t.test('what was not answered may have acted, unless it may be repeated or nothing was reached', async (t) => {
  const fake = await fakeKeycloak(t, ({ path }, res) => {
    if (path.includes('cut')) res.destroy()
    return path.includes('failing') ? { status: 500, json: {} } : undefined
  })
  const invite = { to: 'send an invitation', method: 'PUT', timeoutMs: 200, mayRepeat: false } as const
  const admin = adminOf(fake)
  const mayHaveActed = async (call: AdminCall): Promise<unknown> => {
    const error = await admin.call(call).catch((error: unknown) => error)
    return error instanceof IdentityUnavailableError ? error.mayHaveActed : error
  }
  t.equal(await mayHaveActed({ ...invite, path: adminPath('silent') }), true)
  t.equal(await mayHaveActed({ ...invite, path: adminPath('cut') }), true)
  t.equal(await mayHaveActed({ ...invite, path: adminPath('failing') }), false)
  t.equal(await mayHaveActed({ ...invite, path: adminPath('silent'), mayRepeat: true }), false)
  // The token of before is used, so that the call itself finds no connection.
  fake.close()
  t.equal(await mayHaveActed({ ...invite, path: adminPath('silent') }), false)
})

t.test('a path holds whatever a name holds', async (t) => {
  t.equal(adminPath('a/b', '../x', 'é?#'), '/admin/realms/a%2Fb/..%2Fx/%C3%A9%3F%23')
})

t.test('the keys of a realm are those that sign, none where there is no realm, and no flood', async (t) => {
  const answers: Record<string, { status: number; json: unknown }> = {
    acme: {
      status: 200,
      json: {
        keys: [
          { kty: 'RSA', use: 'enc' },
          { kty: 'RSA', use: 'sig', kid: '1' },
        ],
      },
    },
    nobody: { status: 404, json: { error: 'Realm does not exist' } },
    broken: { status: 500, json: {} },
    flood: { status: 200, json: { keys: [], more: 'x'.repeat(65 * 1024) } },
  }
  const fake = await fakeKeycloak(t, ({ path }) => answers[path.split('/')[2] ?? ''])
  const admin = adminOf(fake)
  t.same(await keysOf(admin, 'acme'), { keys: [{ kty: 'RSA', use: 'sig', kid: '1' }] })
  t.equal(await keysOf(admin, 'nobody'), null)
  t.match(await messageOf(keysOf(admin, 'broken')), /responded with 500/)
  t.match(await messageOf(keysOf(admin, 'flood')), /could not return the keys/)
  t.equal(fake.tokens(), 0, 'nobody asks for them with a token')
})
