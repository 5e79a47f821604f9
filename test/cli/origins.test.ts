import t from 'tap'
import type { Test } from 'tap'
import { fakeService, runCli } from './harness.ts'
import type { CliSettings } from './harness.ts'

async function portal(t: Test, origins: string[], mode: 'sandbox' | 'live' = 'sandbox') {
  const info = { name: 'svc', version: '0.1.0', mode, identity: 'none', auth_url: null }
  const { url, requests } = await fakeService(t, ({ method, path, body }) => {
    if (path === '/api/v1/service')
      return { json: { ...info, platform_realm: 'platform', customers_realm: 'customers' } }
    return { json: method === 'PUT' ? JSON.parse(body) : { origins } }
  })
  const run = (words: string[], settings?: CliSettings) =>
    runCli(['checkout', 'origins', ...words, '--api-url', url, '--client-id', 'demo'], settings)
  return {
    run,
    sent: () =>
      requests
        .filter(({ method, path }) => method === 'PUT' && !path.includes('dry_run'))
        .map(({ body }) => JSON.parse(body).origins),
  }
}

t.test('list prints one origin in a line', async (t) => {
  const { run } = await portal(t, ['https://shop.example', 'https://www.shop.example'])
  t.match(await run(['list', '-o', 'id']), { code: 0, stdout: 'https://shop.example\nhttps://www.shop.example\n' })
  t.equal((await run(['list', '-o', 'csv'])).stdout, 'origin\nhttps://shop.example\nhttps://www.shop.example\n')
  const none = await (await portal(t, [])).run(['list'])
  t.match(none, { code: 0, stdout: '', stderr: /any page in the sandbox, no page in live mode/ })
})

t.test('add keeps those that are there, and adds none twice', async (t) => {
  const { run, sent } = await portal(t, ['https://shop.example'])
  await run(['add', 'https://SHOP.example:443', 'https://new.example', 'https://new.example'])
  t.same(sent(), [['https://shop.example', 'https://new.example']])
  await run(['add', 'https://new.example/checkout'])
  t.same(sent()[1], ['https://shop.example', 'https://new.example/checkout'], 'the service says what is wrong with it')
  t.equal((await run(['add'])).code, 2)
  t.match(await run(['add', 'https://new.example', '--dry-run']), { code: 0, stdout: /PUT .*checkout-origins/ })
  t.equal(sent().length, 2)
})

t.test('remove takes away what is named, however it is written, and knows what is not there', async (t) => {
  const { run, sent } = await portal(t, ['https://shop.example', 'https://old.example'])
  t.match(await run(['remove', 'HTTPS://old.example:443']), { code: 0, stdout: /https:\/\/shop\.example/ })
  t.same(sent(), [['https://shop.example']])
  t.match(await run(['remove', 'https://nobody.example']), { code: 6, stderr: /origins list/ })
  t.equal(sent().length, 1)
})

t.test('in live mode a removal is confirmed, for the checkout stops on that page', async (t) => {
  const { run, sent } = await portal(t, ['https://shop.example'], 'live')
  t.match(await run(['remove', 'https://shop.example']), { code: 2, stderr: /stop the checkout on pages of https/ })
  t.equal((await run(['remove', 'https://shop.example'], { typed: 'no' })).code, 2)
  t.same(sent(), [])
  t.equal((await run(['remove', 'https://shop.example'], { typed: 'https://shop.example' })).code, 0)
  t.equal((await run(['remove', 'https://shop.example', '--yes'])).code, 0)
  t.same(sent(), [[], []])
})
