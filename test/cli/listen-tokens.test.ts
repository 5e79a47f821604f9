import t from 'tap'
import { fakeService, runCli } from './harness.ts'
import type { Answer, Request } from './harness.ts'

const EVENT = {
  event_id: 'evt_01a1fd03f8797eb7872fa2b4358c4f6d',
  event_type: 'payment.settled',
  payload: '{"type":"payment.settled"}',
  signatures: {},
  created_at: '2026-11-21T09:30:00.000Z',
  cursor: 'c1',
}

t.test('a listener that runs longer than its token gets another', async (t) => {
  let tokens = 0
  let refusals = 0
  const answer = ({ path, headers }: Request): Answer => {
    if (path.endsWith('/token')) {
      tokens += 1
      // It counts as used up a second after it was given, for it is renewed half a minute before its end.
      return { json: { access_token: `tok-${tokens}`, token_type: 'Bearer', expires_in: 31 } }
    }
    if (headers.authorization === 'Bearer tok-2' && refusals === 0) {
      refusals += 1
      const error = { error: 'expired', code: 'TOKEN_EXPIRED', status: 401, type: 'about:blank', request_id: 'r' }
      return { status: 401, json: error }
    }
    const data = headers.authorization === 'Bearer tok-3' ? [EVENT] : []
    return { json: { data, has_more: false, next_cursor: data.length === 0 ? 'c0' : 'c1' } }
  }
  const { url, requests } = await fakeService(t, answer)
  const { code, stdout } = await runCli(
    ['listen', '--cursor', 'beginning', '--stop-after', 'payment.settled', '--timeout', '120s', '--print-json'],
    {
      env: {
        SVC_API_URL: url,
        SVC_AUTH_URL: url,
        SVC_CLIENT_ID: 'acme-server',
        SVC_CLIENT_SECRET: 's',
        SVC_CONFIG_DIR: t.testdir({}),
      },
    },
  )
  t.match({ code, stdout }, { code: 0, stdout: `${EVENT.payload}\n` })
  t.equal(tokens, 3, 'the second one when the first was old, the third when the second was refused')
  t.ok(requests.filter(({ path }) => path.endsWith('/token')).every(({ path }) => path.startsWith('/realms/acme/')))
})
