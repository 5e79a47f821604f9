import t from 'tap'
import { openBrowser } from '../../support/browser.ts'
import { bothVersions, obieService } from '../../support/obie.ts'
import { chooseBank, openShopOf, openWidget, payAtBank, untilHeading } from '../../support/widget-page.ts'
import { en } from '../../../src/lib/locales/checkout/en.ts'

t.test("from the widget to the bank's own page in another tab, in a browser, in both versions", async (t) => {
  const { service, bank, merchant } = await obieService(t, bothVersions)
  const shop = await openShopOf(t, service, merchant)
  const browser = await openBrowser(t)
  for (const [version, id, name] of [
    ['4.0', 'model', 'Model Bank'],
    ['3.1', 'model-3', 'Bank of 3.1'],
  ] as const) {
    const visit = async (decision: 'Approve' | 'Cancel', title: string) => {
      const opened = await openWidget(browser, shop, { context: { ignoreHTTPSErrors: true } })
      await chooseBank(opened.widget, name)
      await payAtBank(opened, decision)
      await untilHeading(opened, title)
      t.same(opened.complaints, [])
      return (await opened.heard()).at(-1)
    }
    const seen = bank.exchanges.length
    const paid = await visit('Approve', en.paidTitle)
    t.equal(paid?.eventType, 'SVC_PAYMENT_SUCCESS')
    const path = `/api/v1/payments/${String(paid?.payload['transactionId'])}`
    const { body } = await service.call('GET', path, { merchant })
    t.match(body, { status: 'Settled', debtor_bank_id: id })
    t.match((await bank.books()).payments.at(-1), { amount: '50.00', endToEndId: body.end_to_end_id })
    t.same([...new Set(bank.exchanges.slice(seen).map((each) => each.version))], [version])

    await bank.setFault({ name: 'late_settlement', seconds: 2, times: 1 })
    t.equal((await visit('Approve', en.paidTitle))?.eventType, 'SVC_PAYMENT_SUCCESS')
    await bank.setFault({ name: 'rejected_after_acceptance', seconds: 1, times: 1, reason_code: 'AC06' })
    t.equal((await visit('Approve', en.failedTitle))?.eventType, 'SVC_PAYMENT_FAILED')
    const { payments } = await bank.books()
    t.same(
      payments.slice(-3).map(({ status }) => status),
      ['ACSC', 'ACSC', 'RJCT'],
    )

    const cancelled = await visit('Cancel', en.failedTitle)
    t.equal(cancelled?.eventType, 'SVC_PAYMENT_FAILED')
    t.equal((await bank.books()).payments.length, payments.length, 'no money moved')
  }
})
