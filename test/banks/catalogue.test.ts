import t from 'tap'
import { MOCK_BANKS, mockBankById, logoPath } from '../../src/banks/catalogue.ts'
import { parseScenario } from '../../src/banks/scenarios.ts'
import { testService } from '../support/app.ts'

t.test('there are sixteen banks, each one of its own, six of them popular', async (t) => {
  t.equal(MOCK_BANKS.length, 16)
  t.equal(new Set(MOCK_BANKS.map(({ id }) => id)).size, 16)
  t.equal(new Set(MOCK_BANKS.map(({ name }) => name)).size, 16)
  t.equal(MOCK_BANKS.filter(({ popular }) => popular).length, 6)
  for (const { id, name } of MOCK_BANKS) {
    t.match(id, /^mock-[a-z]+$/)
    t.ok(name.length <= 50)
    t.equal(mockBankById(id)?.id, id)
  }
  t.notOk(mockBankById('mock-nowhere'))
  t.notOk(mockBankById('__proto__'))
  t.notOk(mockBankById(null))
  t.notOk(mockBankById(undefined))
})

t.test('each bank behaves in a way that the mock bank knows, and the popular ones succeed', async (t) => {
  for (const { scenario, popular, name } of MOCK_BANKS) {
    const { behaviour } = parseScenario(scenario)
    const succeeds = behaviour.exchange === undefined && behaviour.execution === undefined
    t.ok(succeeds || /\(.+\)$/.test(name), `${name} tells what it does`)
    if (popular) t.ok(succeeds && behaviour.settleInSeconds === 0)
  }
})

t.test('anyone may list the banks, the popular ones first', async (t) => {
  const service = await testService(t)
  const answer = await service.call('GET', '/api/v1/banks')
  t.match(answer, { status: 200, headers: { 'cache-control': /public/ } })
  const listed = MOCK_BANKS.map((bank) => ({
    id: bank.id,
    name: bank.name,
    popular: bank.popular,
    available: true,
    unavailable_since: null,
    logo: logoPath(bank),
  }))
  t.same(answer.body, { data: listed }, 'without their scenarios')
  const popular: boolean[] = answer.body.data.map((bank: { popular: boolean }) => bank.popular)
  t.same(
    popular,
    popular.toSorted((a, b) => Number(b) - Number(a)),
  )
  t.match(await service.call('GET', '/api/v1/banks?popular=true'), { status: 400, body: { code: 'VALIDATION_FAILED' } })
})
