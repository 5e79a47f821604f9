import t from 'tap'
import { testService } from '../../support/app.ts'
import { openBrowser, openPage } from '../../support/browser.ts'
import { addCustomer } from '../../support/customers.ts'
import { isGood } from '../../support/pages.ts'

const service = await testService(t, { worker: true })
const merchant = await service.merchant()
await service.owner.query(`update merchants set trading_name = 'Corner Shop & Söhne' where id = $1`, [merchant.id])
await addCustomer(service, { name: 'Ada Payer' })
const browser = await openBrowser(t)

t.test("the whole flow at the test shop: full login, a mandate, and the shop's thanks", async (t) => {
  const watched = await openPage(browser)
  const { page } = watched
  await page.goto(`${service.url}/dev/merchant-harness`)
  await isGood(t, watched, 'harness')
  await page.getByLabel('Merchant client id').fill(merchant.clientId)
  await page.locator('select[name=bank]').selectOption('mock-severn')
  await page.getByLabel('Come back to').selectOption('/dev/merchant-success')
  await page.getByLabel("Sign in with the bank's full login").check()
  await page.getByLabel('Set up a mandate for more payments').check()
  await page.getByLabel('Go to the bank at once').uncheck()
  await page.getByRole('button', { name: 'Pay by bank' }).click()
  await page.getByRole('heading', { name: 'Payment created' }).waitFor()
  await isGood(t, watched, 'harness-created', false)
  await page.getByRole('link', { name: 'Go to the bank' }).click()
  await page.getByLabel('User name').fill('payer')
  await page.getByLabel('Password').fill('wrong')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').waitFor()
  await isGood(t, watched, 'sca-password')
  await page.getByLabel('User name').fill('payer')
  await page.getByLabel('Password').fill('mock-password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByLabel('One-time code').fill('000000')
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByRole('alert').waitFor()
  await isGood(t, watched, 'sca-code', false)
  await page.getByLabel('One-time code').fill('123456')
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByRole('button', { name: 'Approve £50.00' }).waitFor()
  await isGood(t, watched, 'sca-approve')
  await page.getByRole('button', { name: 'Approve £50.00' }).click()
  await page.getByRole('heading', { name: 'Thank you for your order' }).waitFor()
  await isGood(t, watched, 'merchant-success', false)
  await page.getByRole('link', { name: 'Show the receipt' }).click()
  await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor()
})
