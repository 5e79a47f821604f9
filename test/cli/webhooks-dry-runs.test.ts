import t from 'tap'
import { countRows } from '../support/rows.ts'
import { realService } from './real-service.ts'

t.test('what changes an endpoint or a secret can be tried: the service says what it would answer', async (t) => {
  const service = await realService(t)
  const merchant = await service.merchant()
  const before = await countRows(service.owner)
  const tried = (...words: string[]) => service.as(merchant, [...words, '--dry-run'])
  const set = ['webhooks', 'endpoint', 'set'] as const
  for (const url of ['nonsense', 'ftp://shop.example', 'https://u:p@shop.example', 'localhost:4242'])
    t.match(await tried(...set, url), { code: 2, stdout: '', stderr: /^Error: <url>: must / }, url)
  t.match(await tried(...set, 'http://localhost:4242'), { code: 0, stdout: /Effect +this would send events to http/ })
  t.match(await tried(...set, '--none'), { code: 0, stdout: /change nothing/ })
  for (const verb of ['pause', 'resume'])
    t.match(await tried('webhooks', 'endpoint', verb), { code: 7, stderr: /Try: svc webhooks endpoint set <url>\n/ })
  t.match(await tried('secret', 'rotate', '--discard-current'), {
    code: 2,
    stdout: '',
    stderr: /^Error: --discard-current: is only possible during the overlap/,
  })
  const rotation = (await tried('secret', 'rotate', '--overlap', '2h')).stdout
  t.match(rotation, /Effect +this would make a new secret that webhooks are signed with; the one before signs .* 2h/)
  t.match((await tried('secret', 'rotate', '--overlap', '0s')).stdout, /Effect +this would replace the secret at once/)
  t.same(await countRows(service.owner), before)
  await service.as(merchant, ['secret', 'rotate'])
  t.match(await tried('secret', 'rotate'), { code: 7, stdout: '', stderr: /Try: svc secret end-overlap\n/ })
  t.match(await tried('secret', 'rotate', '--discard-current'), {
    code: 0,
    stdout: /Effect +this would replace the newest secret, and keep the one before until its end/,
  })
})
