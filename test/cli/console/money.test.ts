import t from 'tap'
import { createPayouts } from '../../../src/payouts/create-payouts.ts'
import { sendPayouts } from '../../../src/payouts/send-payouts.ts'
import { runReconciliation } from '../../../src/reconciliation/run-reconciliation.ts'
import { testService } from '../../support/app.ts'
import { postFor } from '../../support/ledger.ts'
import { closedSettlement, payoutAccount, payoutsOf } from '../../support/payouts.ts'
import { openConsole } from '../../support/terminal.ts'

/* Balances, settlements, payouts and differences in the console: of operators, and of a merchant. */
const service = await testService(t, {})
const { app } = service
const shop = await service.merchant()

t.test('an operator follows money to a failed payout, retries it, and sees what differs', async (t) => {
  await payoutAccount(service, shop, { sort_code: '00-00-75', account_number: '99999999' })
  await closedSettlement(service, shop)
  await createPayouts(app)
  await sendPayouts(app)
  await payoutAccount(service, shop)
  const env = { SVC_PLATFORM_USER: 'ada' }
  const console = openConsole(t, { url: service.url, env, words: ['--platform', '--screen', 'balances'] })
  await console.until(/bank 49\.30, owed 49\.30[^]*> Acme +GBP/)
  console.press('enter')
  await console.until(/Settlements 1\/1  filter: GBP merchant:[^]*Acme[^]*49\.30 +GBP +CLOSED/)
  console.press('0')
  await console.until(/\[Payouts\][^]*49\.30 +GBP +FAILED +INVALID/)
  console.press('r')
  await console.until(/Reason/)
  console.type('another account')
  console.press('enter')
  await console.until(/Enter will send the payout of 49\.30 GBP again/)
  console.press('enter')
  await console.until(/Done: created the payout \w{8}/)
  await sendPayouts(app)
  console.press('ctrl-r')
  await console.until(/49\.30 +GBP +PAID/)
  console.press('g', 'enter')
  await console.until(/Payouts > 49\.30 GBP PAID[^]*Merchant +Acme[^]*o its settlement/)
  console.press('o')
  await console.until(/Settlements > 49\.30 GBP PAID_OUT[^]*Net +49\.30[^]*LINE +KIND[^]*PAYMENT +49\.30/)
  console.press('o')
  await console.until(/Payouts > 49\.30 GBP PAID/)

  // The payment that the settlement is of was never there.
  await runReconciliation(app, new AbortController().signal)
  console.press('0')
  await console.until(/\[Differences\][^]*DIFFERENT: 1 difference until [^]*LEDGER_WITHOUT_PAYMENT/)
  console.shot('differences-80x24')
  console.press('enter')
  await console.until(/expected none, found 49\.30 GBP/)
  console.shot('difference-80x24')
  console.press('esc', 'ctrl-c')
  t.match(await console.ended(), { code: 0, isPlain: true })
  t.equal((await payoutsOf(service, shop)).length, 2)
})

t.test('a merchant closes its period and sees what it is paid, and a developer sees none of it', async (t) => {
  await postFor(service, shop.id, ['payment_settled', '20.00'])
  const env = { SVC_CLIENT_ID: shop.clientId }
  const console = openConsole(t, { url: service.url, env, words: ['--screen', 'balances'] })
  await console.until(/\[Balances\][^]*GBP +20\.00/)
  console.press('0')
  await console.until(/\[Settlements\]/)
  console.press('c')
  await console.until(/Currency/)
  console.press('enter', 'enter')
  await console.until(/Done: closed 1/)
  await console.until(/20\.00 +GBP +CLOSED/)
  console.press('0', '0')
  await console.until(/\[Differences\][^]*What moved in the last 24 hours/)
  console.press('ctrl-c')
  t.match(await console.ended(), { code: 0, isPlain: true })
})
