import { userInfo } from 'node:os'
import t from 'tap'
import { fakeService, runCli } from '../cli/harness.ts'

const ADVANCED = {
  merchant_id: '01a1fd03-f879-7eb7-872f-a2b4358c4f6d',
  customer_ids: [],
  advanced_ms: 3_600_000,
  stops: 0,
}
const ADVANCE = ['sandbox', 'clock', 'advance', '1h', '--merchant', ADVANCED.merchant_id]

t.test(
  "operations of the platform carry the operator's name: of the environment, else this machine's user",
  async (t) => {
    const { url, requests } = await fakeService(t, () => ({ json: ADVANCED }))
    t.match(await runCli([...ADVANCE, '--api-url', url], { env: { SVC_PLATFORM_USER: 'bob' } }), { code: 0 })
    t.match(await runCli([...ADVANCE, '--api-url', url]), { code: 0 })
    t.same(
      requests.map(({ headers }) => headers['x-platform-user']),
      ['bob', userInfo().username],
    )
  },
)

t.test('other operations do not carry it', async (t) => {
  const { url, requests } = await fakeService(t, () => ({ json: { data: [], has_more: false, next_cursor: null } }))
  t.match(
    await runCli(['payments', 'list', '--api-url', url, '--client-id', 'demo'], { env: { SVC_PLATFORM_USER: 'ada' } }),
    { code: 0 },
  )
  t.equal(requests[0]?.headers['x-platform-user'], undefined)
})

t.test('a name that no header can carry is refused', async (t) => {
  t.match(
    await runCli([...ADVANCE, '--api-url', 'http://127.0.0.1:1'], { env: { SVC_PLATFORM_USER: 'Ada Lovelace' } }),
    {
      code: 2,
      stderr: /SVC_PLATFORM_USER: invalid name "Ada Lovelace"/,
    },
  )
})
