import { existsSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { SCRATCH } from '../../support/scratch.ts'
import { runCli } from '../harness.ts'
import { realService } from '../real-service.ts'

t.test('the whole story against the service: a link, a receipt, a dispute, a mandate, good-bye', async (t) => {
  const service = await realService(t)
  const merchant = await service.merchant()
  const configDir = mkdtempSync(join(SCRATCH, 'svc-payer-'))
  const payer = (...words: string[]) =>
    runCli([...(words[1] === 'mandates' ? [] : ['payer']), ...words], {
      env: { SVC_API_URL: service.url, SVC_PLATFORM_USER: 'ada', SVC_CONFIG_DIR: configDir },
    })
  const email = 'grace@example.org'
  const pay = ['payments', 'create', '--amount', '9.99', '--currency', 'GBP', '--payer-email', email]
  const mandate = ['--mandate', '--max-amount', '20.00', '--approve', '--wait', '--json']
  const made = await service.as(merchant, [...pay, ...mandate])
  t.equal(made.code, 0, made.stderr)
  const { payment_id: id, consent_id: consent } = JSON.parse(made.stdout)

  t.match(await payer('payments', 'list'), { code: 4 })
  t.match(await payer('link', email), { code: 0 })
  t.match(await payer('verify', '--from-mail', email, '--wait', '20s'), { code: 0, stdout: /g…@example\.org/ })
  t.match(await payer('verify', '--from-mail', email, '--wait', '0s'), {
    code: 4,
    stderr: /was used already, or has ended\n[^]*Try: svc .*payer link grace@example\.org\n/,
  })
  t.match(await payer('payments', 'list', '-o', 'id'), { code: 0, stdout: `${id}\n` })
  t.match(await payer('show', id.slice(-8)), { code: 0, stdout: /Status +Settled\nAmount +9\.99 GBP/ })
  t.match(await payer('send-receipt', id, '--dry-run'), { code: 0 })
  t.match(await payer('send-receipt', id), { code: 0, stdout: /Receipt +sent to g…@example\.org/ })
  t.match(await payer('send-receipt', id), { code: 8, stderr: /asked for within the last hour/ })
  t.match(await payer('dispute', id, '--reason', 'OTHER', '--statement', 'odd'), { code: 0, stdout: /Dispute / })
  t.match(await payer('dispute', id, '--reason', 'OTHER', '--statement', 'odd'), { code: 7, stderr: /payer show / })
  t.match(await payer('payments', 'mandates', 'list', '--as-payer', '-q', '[0].consent_id'), {
    code: 0,
    stdout: `${consent}\n`,
  })
  t.match(await payer('payments', 'mandates', 'cancel', consent, '-q', 'status'), { code: 0, stdout: 'REVOKED\n' })
  t.match(await payer('payments', 'mandates', 'list', '--as-payer'), { code: 0, stdout: '' })
  const [file = ''] = readdirSync(configDir)
  const stolen = JSON.parse(readFileSync(join(configDir, file), 'utf8'))
  t.match(await payer('logout'), { code: 0 })
  t.notOk(existsSync(join(configDir, file)))
  const late = await service.call('GET', '/api/v1/payer/payments', {
    headers: { authorization: `Bearer ${stolen.session_token}` },
  })
  t.equal(late.status, 401, 'what was kept opens nothing any more')
})
