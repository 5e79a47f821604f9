import t from 'tap'
import { testService } from '../../support/app.ts'
import { startTestBank } from '../../support/model-bank.ts'
import { openConsole } from '../../support/terminal.ts'

/* Banks in the console: an operator connects to one. */
const bank = await startTestBank(t)
const service = await testService(t, {
  env: {
    SVC_PUBLIC_URL: 'http://127.0.0.1:3000',
    SVC_BANK_PROFILES: bank.profiles,
    SVC_BANK_SOFTWARE_STATEMENT: bank.softwareStatement,
    SVC_COLLECTION_ACCOUNT: 'UK.OBIE.SortCodeAccountNumber:20000055779911:svc Collections',
  },
})

t.test('an operator sees the banks, connects to one, and reads its test', async (t) => {
  const env = { SVC_PLATFORM_USER: 'ada' }
  const console = openConsole(t, { url: service.url, env, words: ['--platform', '--screen', 'banks'] })
  await console.until(
    /Software \w+: its certificate ends on [^]*> model +Model Bank[^]*not registered +unproven +unavailable/,
  )
  console.press('c')
  await console.until(/Register again, for another client id:\s[^]*> no/)
  console.press('enter')
  await console.until(/Reason/)
  console.type('going live')
  console.press('enter')
  await console.until(/Enter will register the platform at Model Bank/)
  console.press('enter')
  await console.until(/Done: registered at Model Bank as /)
  const headers = await service.operator('OWNER')
  t.match(await service.call('POST', '/api/v1/admin/banks/model/test', { headers }), { body: { passed: true } })
  console.press('ctrl-r')
  await console.until(/> model[^]* proven +available/)
  console.press('enter')
  await console.until(/Registered as [^]*✓ discovery[^]*✓ read/)
  console.shot('bank-80x24')
  console.press('esc', 'ctrl-c')
  t.match(await console.ended(), { code: 0, isPlain: true })
  t.equal((await bank.books()).registrations.length, 1)
})
