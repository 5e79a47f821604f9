import t from 'tap'
import { enterCode, startDevice } from '../../support/device.ts'
import { PASSWORD, embeddedHarness, makeRealm, throughPages } from '../../support/identity.ts'
import { UserAgent } from '../../support/user-agent.ts'

const harness = await embeddedHarness(t)
const { service, authUrl } = harness

t.test('a device that asks too often gets slow_down, and its tokens once they are there', async (t) => {
  const realm = await makeRealm(harness)
  const { body, poll } = await startDevice(harness, realm)
  /** As if the last question had been asked then. */
  const lastAsked = (seconds: number) =>
    service.owner.query(
      `update idp.state set polled_at = now() + make_interval(secs => $2) where realm = $1 and model = 'DeviceCode'`,
      [realm.slug, seconds],
    )
  t.match(await poll(), { status: 400, body: { error: 'authorization_pending' } }, 'the first question is never early')
  await lastAsked(60)
  t.match(await poll(), { status: 400, body: { error: 'slow_down', error_description: String } })
  await lastAsked(-5)
  t.match(await poll(), { status: 400, body: { error: 'authorization_pending' } }, 'after five seconds')
  const agent = new UserAgent(authUrl)
  const confirm = await enterCode(agent, await agent.open(body.verification_uri), body.user_code)
  await throughPages(agent, confirm, { email: realm.admin.email, password: PASSWORD })
  await lastAsked(60)
  t.match(await poll(), { status: 200, body: { access_token: String } })
})
