import t from 'tap'
import { fakeService, runCli } from './harness.ts'
import { realService } from './real-service.ts'

const ALBION = {
  id: 'mock-albion',
  name: 'Albion Bank',
  popular: true,
  available: true,
  unavailable_since: null,
  logo: '/banks/mock-albion.svg',
}
const OTHER = {
  id: 'mock-thames',
  name: 'Thames Building Society',
  popular: false,
  available: true,
  unavailable_since: null,
  logo: '/banks/mock-thames.svg',
}

t.test('checkout banks prints ids and names, and proves nothing to anybody', async (t) => {
  const { url, requests } = await fakeService(t, () => ({ json: { data: [ALBION, OTHER] } }))
  const run = (...words: string[]) => runCli(['checkout', 'banks', '--api-url', url, ...words])
  t.match(await run(), {
    code: 0,
    stdout: /^ID +NAME +POPULAR\nmock-albion +Albion Bank +yes\nmock-thames +Thames Building Society\n$/,
    stderr: '',
  })
  t.equal((await run('-o', 'id')).stdout, 'mock-albion\nmock-thames\n')
  t.same(JSON.parse((await run('--json')).stdout), [ALBION, OTHER])
  t.equal((await run('-q', '[0].name')).stdout, 'Albion Bank\n')
  t.equal((await run('-o', 'csv')).stdout.split('\n')[0], 'id,name,popular,logo,available,unavailable_since')
  t.match(requests[0], { method: 'GET', path: '/api/v1/banks' })
  t.notOk(requests[0]?.headers.authorization)
})

t.test('a service that is not reached is exit code 8', async (t) => {
  t.match(await runCli(['checkout', 'banks', '--api-url', 'http://127.0.0.1:1']), { code: 8, stderr: /\nTry: svc / })
})

t.test('the service has sixteen, in 80 columns', async (t) => {
  const { url } = await realService(t)
  const { code, stdout } = await runCli(['checkout', 'banks', '--api-url', url], { tty: true, env: { NO_COLOR: '1' } })
  t.equal(code, 0)
  const lines = stdout.trimEnd().split('\n')
  t.equal(lines.length, 17)
  t.ok(lines.every((line) => line.length <= 80))
})
