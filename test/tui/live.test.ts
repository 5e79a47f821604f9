import t from 'tap'
import { MERCHANT_ID, merchantOf, pageOf } from '../cli/admin-harness.ts'
import { fakeService, refusal } from '../cli/harness.ts'
import type { Answer, Request } from '../cli/harness.ts'
import { openConsole } from '../support/terminal.ts'

/* What a real service would not do at will: live mode, a session that ends, answers that are refusals. */
const INFO = {
  name: 'svc',
  version: '0.1.0',
  mode: 'live',
  identity: 'none',
  auth_url: null,
  platform_realm: 'platform',
  customers_realm: 'customers',
}
const ADA = {
  kind: 'platform',
  realm: null,
  client_id: null,
  subject: 'ada',
  name: 'ada',
  role: 'OPS',
  permissions: ['read merchants', 'operate merchants'],
  merchant: null,
  expires_at: null,
}

t.test('live mode is unmistakable, asks for the name, and tells why the service refuses', async (t) => {
  let isOut = false
  const answer = ({ path, method }: Request): Answer => {
    if (path === '/api/v1/service') return { json: INFO }
    if (path === '/api/v1/whoami') return { json: ADA }
    if (isOut) return refusal(401, 'UNAUTHENTICATED')
    if (method === 'PUT') return refusal(409, 'KYB_TRANSITION_INVALID')
    if (path.startsWith('/api/v1/admin/merchants?')) return pageOf([merchantOf({ kyb_status: 'APPROVED' })])
    return refusal(404, 'NOT_FOUND')
  }
  const { url, requests } = await fakeService(t, answer)
  const writes = (): Request[] => requests.filter(({ method }) => method === 'PUT')
  const env = { SVC_PLATFORM_USER: 'ada', NO_COLOR: '1' }
  const console = openConsole(t, { url, env, words: ['--screen', 'kyb', '--interval', '1s'] })
  await console.until(/ LIVE /)
  await console.until(/s suspend/)
  console.press('s')
  await console.until(/LIVE: suspend Acme/)
  console.type('chargebacks\r')
  await console.until(/LIVE: type acme or /)
  console.shot('live-80x24')
  console.type('Acme\r')
  await console.until(/that is not acme/)
  t.same(writes(), [], 'nothing was sent yet')
  console.press('ctrl-u')
  console.type('acme\r')
  await console.until(/refused: KYB_TRANSITION_INVALID/)
  t.match(console.text(), new RegExp(`Try: svc kyb show ${MERCHANT_ID.slice(0, 8)}`))
  t.equal(writes().length, 1)
  console.press('esc')
  await console.until(/nothing was changed/)
  t.match(console.text(), /APPROVED/, 'what was shown ahead is taken back')
  isOut = true
  await console.until(/Signed out: svc login/)
  t.match(console.text(), /APPROVED/, 'what was read stays')
  isOut = false
  await console.until((text) => !text.includes('Signed out'))
  console.press('q')
  t.match(await console.ended(), { code: 0, isPlain: true, isCursorShown: true, isCooked: true })
})

const OTHER_ID = '019aa000-0000-7000-8000-00000000000b'

t.test('many are confirmed by their number; what could not be done is told for each', async (t) => {
  const one = merchantOf({ kyb_status: 'APPROVED' })
  const other = merchantOf({
    kyb_status: 'APPROVED',
    id: OTHER_ID,
    trading_name: 'Other',
  })
  const { url, requests } = await fakeService(t, ({ path, method }) => {
    if (path === '/api/v1/service') return { json: INFO }
    if (path === '/api/v1/whoami') return { json: ADA }
    if (method === 'PUT') return path.includes(OTHER_ID) ? refusal(409, 'KYB_TRANSITION_INVALID') : { json: one }
    return path.startsWith('/api/v1/admin/merchants?') ? pageOf([one, other]) : refusal(404, 'NOT_FOUND')
  })
  const env = { SVC_PLATFORM_USER: 'ada', NO_COLOR: '1' }
  const console = openConsole(t, { url, env, words: ['--screen', 'kyb'], columns: 60, rows: 16 })
  await console.until(/KYB queue 1\/2/)
  t.match(console.screen()[0], /platform +ada OPS +\*\*\* LIVE \*\*\* +\d+ ms /, 'without colour too')
  console.press('space')
  await console.until(/1 marked/)
  console.press('space')
  await console.until(/2 marked/)
  console.press('s')
  await console.until(/LIVE: suspend 2 merchants/)
  console.type('chargebacks\r')
  await console.until(/LIVE: type 2:/)
  console.shot('live-many-60x16')
  console.type('acme\r')
  await console.until(/that is not 2/)
  console.press('ctrl-u')
  console.type('2\r')
  await console.until(/1 done, 1 failed/)
  console.shot('live-failed-60x16')
  t.match(console.text().replaceAll(/[│\s]+/g, ' '), new RegExp(`${OTHER_ID}: .*KYB_TRANSITION_INVALID`))
  t.equal(requests.filter(({ method }) => method === 'PUT').length, 2)
  console.press('esc')
  await console.until(/KYB queue \d\/2/)
  console.press('ctrl-c')
  t.match(await console.ended(), { code: 0, isPlain: true, isCooked: true })
})
