import t from 'tap'
import { makeMockLogin } from '../../src/banks/mock-login.ts'
import type { MockLogin } from '../../src/banks/mock-login.ts'
import { testMockBank } from '../support/mock-bank.ts'

const { pool } = await testMockBank(t)
const credentials = { username: 'ada', password: 'a secret', code: '123456' }
const login = makeMockLogin({ key: 'the key', pool, credentials })
const ENTRY = { state: 'state-1', scenario: 'success', username: 'ada', password: 'a secret' }

function signedIn(entry: Partial<typeof ENTRY> = {}, at: MockLogin = login): string {
  return at.signIn({ ...ENTRY, ...entry }) ?? ''
}

t.test('a login is for one payment, one step, one bank and a quarter of an hour', async (t) => {
  const text = signedIn()
  t.match(login.read(text, { step: 'password', state: 'state-1' }), { scenario: 'success' })
  t.equal(login.read(text, { step: 'code', state: 'state-1' }), undefined)
  t.equal(login.read(text, { step: 'password', state: 'state-2' }), undefined)
  const other = makeMockLogin({ key: 'another key', pool, credentials })
  t.equal(other.read(text, { step: 'password', state: 'state-1' }), undefined)
  const { now } = Date
  t.teardown(() => void (Date.now = now))
  Date.now = () => now() + 15 * 60_000
  t.equal(login.read(text, { step: 'password', state: 'state-1' }), undefined)
})

t.test('no other text is a login', async (t) => {
  for (const text of ['', '.', 'x.y', signedIn().slice(0, -1), `${signedIn()}.`, signedIn().toUpperCase()])
    t.equal(login.read(text, { step: 'password', state: 'state-1' }), undefined)
})

t.test("it holds neither the password nor the code, and the user name's scenario", async (t) => {
  const text = signedIn({ username: 'fraud-stop' })
  const held = Buffer.from(text.split('.')[0] ?? '', 'base64url').toString()
  t.notMatch(held, /a secret|123456|\bada\b/)
  t.match(login.read(text, { step: 'password', state: 'state-1' }), { scenario: 'fraud-stop' })
  t.equal(login.signIn({ ...ENTRY, username: 'fraud-stop', password: '' }), undefined)
})

t.test('right codes are no wrong ones, however often they come', async (t) => {
  const who = login.read(signedIn({ state: 'state-3' }), { step: 'password', state: 'state-3' })
  if (who === undefined) throw new Error('no login')
  for (let count = 0; count < 8; count += 1) t.match(await login.enterCode(who, '123456'), { login: /./ })
  for (const triesLeft of [4, 3, 2, 1, 0, 0]) t.same(await login.enterCode(who, '1234567'), { triesLeft })
  t.same(await login.enterCode(who, '123456'), { triesLeft: 0 })
})
