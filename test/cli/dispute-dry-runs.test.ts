import t from 'tap'
import { paidPayment, realService } from './real-service.ts'

const NOBODYS = '00000000-0000-7000-8000-000000000000'
const WORDS = ['--reason', 'OTHER', '--statement', 'why']

t.test('a dry run is refused where the change would be: whoever raises, decides or gives in', async (t) => {
  const service = await realService(t)
  const merchant = await service.merchant()
  const [payment, other] = [await paidPayment(service, merchant), await paidPayment(service, merchant)]
  const create = ['payments', 'create', '--amount', '5.00', '--currency', 'GBP', '-o', 'id']
  const waiting = (await service.as(merchant, create)).stdout.trim()
  const run = (line: string[]) => (line[0] === 'disputes' ? service.operate(line) : service.as(merchant, line))
  const dry = (line: string[]) => run([...line, '--dry-run'])
  const alike = async (line: string[], code: number): Promise<void> => {
    const [shown, real] = [await dry(line), await run(line)]
    t.match(shown, { code, stdout: '' }, line.join(' '))
    t.equal(shown.stderr, real.stderr.replace(/\n {4} ?\[request [^\n]+\]|\[request [^\n]+\]\n/, ''))
    t.equal(real.code, code)
  }
  const raised = await run(['sandbox', 'dispute', payment, ...WORDS, '-o', 'id'])
  const dispute = raised.stdout.trim()

  for (const verb of ['payments dispute', 'sandbox dispute', 'disputes raise']) {
    const line = (id: string): string[] => [...verb.split(' '), id, ...WORDS]
    t.match(await dry(line(other)), { code: 0, stdout: /Effect +this would dispute the payment of 50\.00 GBP/ }, verb)
    await alike(line(payment), 7)
    await alike(line(waiting), 7)
    t.match(
      await dry(line(NOBODYS)),
      { code: 6, stdout: '', stderr: /^Error: payment not found|^Error: there is no/ },
      verb,
    )
  }
  const resolve = ['disputes', 'resolve', dispute, '--favour', 'payer', '--note', 'n']
  await alike(resolve, 7)
  await run(['disputes', 'escalate', dispute, '--reason', 'a pattern'])
  await alike(['disputes', 'escalate', dispute, '--reason', 'r'], 7)
  await alike(['portal', 'disputes', 'accept', dispute], 7)
  await run([...resolve, '--refund'])
  await alike(['disputes', 'resolve', dispute, '--favour', 'merchant', '--note', 'n'], 7)
  await alike(['disputes', 'escalate', dispute, '--reason', 'r'], 7)
  await alike(['portal', 'disputes', 'accept', dispute], 7)
  await alike(['portal', 'disputes', 'evidence', dispute, '--text', 'a'], 7)
})

t.test('so is one of a realm or a registration that is not there, and of what is whole', async (t) => {
  const { operate, merchant: addMerchant } = await realService(t)
  const { realm } = await addMerchant()
  const keys = ['staff', 'rotate-keys', '--reason', 'r', '--dry-run', '--realm']
  t.match(await operate([...keys, 'nope']), { code: 6, stdout: '', stderr: /no such realm\nTry: .*svc merchants list/ })
  for (const there of [realm, 'platform', 'customers'])
    t.match(await operate([...keys, there]), { code: 0, stdout: /Effect +this would sign the tokens of / }, there)
  const repair = ['merchants', 'repair', '--dry-run']
  t.match(await operate([...repair, 'nope']), { code: 6, stdout: '', stderr: /Try: svc merchants registrations/ })
  t.match(await operate([...repair, realm, '--rollback']), { code: 7, stdout: '', stderr: /svc merchants disable/ })
  t.match(await operate([...repair, realm]), { code: 0, stdout: /Effect +this would make again / })
})
