import t from 'tap'
import { openBrowser } from '../../support/browser.ts'
import { obieService } from '../../support/obie.ts'
import { chooseBank, openShopOf, openWidget, payAtBank, untilHeading } from '../../support/widget-page.ts'
import { en } from '../../../widget/locales/en.ts'

t.test("from the widget to the bank's own page in another tab, in a browser", async (t) => {
  const { service, bank, merchant } = await obieService(t)
  const shop = await openShopOf(t, service, merchant)
  const browser = await openBrowser(t)
  const visit = async (decision: 'Approve' | 'Cancel', title: string) => {
    const opened = await openWidget(browser, shop, { context: { ignoreHTTPSErrors: true } })
    await chooseBank(opened.widget, 'Model Bank')
    await payAtBank(opened, decision)
    await untilHeading(opened, title)
    t.same(opened.complaints, [])
    return (await opened.heard()).at(-1)
  }

  const paid = await visit('Approve', en.paidTitle)
  t.equal(paid?.eventType, 'SVC_PAYMENT_SUCCESS')
  const path = `/api/v1/payments/${String(paid?.payload['transactionId'])}`
  const { body } = await service.call('GET', path, { merchant })
  t.match(body, { status: 'Settled', debtor_bank_id: 'model' })
  t.match((await bank.books()).payments, [{ amount: '50.00', endToEndId: body.end_to_end_id }])

  const cancelled = await visit('Cancel', en.failedTitle)
  t.equal(cancelled?.eventType, 'SVC_PAYMENT_FAILED')
  t.equal((await bank.books()).payments.length, 1, 'no money moved')
})
