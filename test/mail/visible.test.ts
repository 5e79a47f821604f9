import t from 'tap'
import { queueMail } from '../../src/mail/queue.ts'
import { testService } from '../support/app.ts'
import type { TestService } from '../support/app.ts'

async function withMails(service: TestService): Promise<{ platform: string; merchant: string }> {
  for (const realm of ['platform', 'acme']) {
    await queueMail(service.app, service.app.pool, {
      merchantId: null,
      realm,
      kind: 'invite',
      recipient: `ada@${realm}.example`,
      subject: `You are invited to ${realm}`,
      body: `https://svc.example/realms/${realm}/invite?token=abc`,
    })
  }
  const { rows } = await service.owner.query('select id, realm from mails')
  const idOf = (realm: string): string => String(rows.find((row) => row.realm === realm)?.id)
  return { platform: idOf('platform'), merchant: idOf('acme') }
}

t.test("only an OWNER reads the platform's own mails, for their links make one", async (t) => {
  const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
  const { platform, merchant } = await withMails(service)
  const [owner, ops] = [await service.operator('OWNER'), await service.operator('OPS')]
  const listed = async (headers: Record<string, string>, query = ''): Promise<string[]> => {
    const { body } = await service.call('GET', `/api/v1/sandbox/mails${query}`, { headers })
    return body.data.map(({ id }: { id: string }) => id)
  }
  t.same(new Set(await listed(owner)), new Set([platform, merchant]))
  t.same(await listed(ops), [merchant])
  t.same(await listed(ops, '?recipient=ada@platform.example'), [])
  t.equal((await service.call('GET', `/api/v1/sandbox/mails/${platform}`, { headers: owner })).status, 200)
  t.equal((await service.call('GET', `/api/v1/sandbox/mails/${merchant}`, { headers: ops })).status, 200)
  const hidden = await service.call('GET', `/api/v1/sandbox/mails/${platform}`, { headers: ops })
  const unknown = await service.call('GET', '/api/v1/sandbox/mails/00000000-0000-4000-8000-00000000000f', {
    headers: ops,
  })
  t.equal(hidden.status, 404)
  const { request_id: _one, ...body } = hidden.body
  const { request_id: _two, ...same } = unknown.body
  t.same(body, same)
})

t.test('without an identity provider everyone reads them', async (t) => {
  const service = await testService(t)
  const { platform } = await withMails(service)
  const { body } = await service.call('GET', '/api/v1/sandbox/mails')
  t.equal(body.data.length, 2)
  t.equal((await service.call('GET', `/api/v1/sandbox/mails/${platform}`)).status, 200)
})
