import t from 'tap'
import { atBank, createPayment, untilStatus } from '../support/app.ts'
import type { TestMerchant } from '../support/app.ts'
import { openBrowser } from '../support/browser.ts'
import { goTo, hubService, PAYER, signedIn } from '../support/hub.ts'
import { isGood } from '../support/pages.ts'

/* Mandates in the hub: what they allow, and how a payer ends one. */
const service = await hubService(t)
const browser = await openBrowser(t)
const acme = await service.merchant()
const other = await service.merchant()
await service.owner.query('update merchants set trading_name = $1 where id = $2', ['Borough Water', other.id])

/** A mandate that its payer has authorised. */
async function mandate(merchant: TestMerchant, changes: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await createPayment(service, merchant, {
    amount: '12.00',
    payer_email: PAYER,
    consent_type: 'VARIABLE_RECURRING',
    control_parameters: {
      max_amount_per_payment: '50.00',
      periodic_limits: [{ period: 'MONTH', max_amount: '100.00' }],
    },
    ...changes,
  })
  if (status !== 201) throw new Error(JSON.stringify(body))
  await service.call('POST', `/api/v1/payments/${body.payment_id}/sca-complete`, {
    body: await atBank(body.redirect_url, 'approve'),
  })
  await untilStatus(service, merchant, body.payment_id, 'Settled')
  return body.consent_id
}

const ofAcme = await mandate(acme)
await mandate(other)

t.test('a permission shows its limits, and is cancelled after an explanation', async (t) => {
  const watched = await signedIn(service, browser)
  const { page } = watched
  await page.getByRole('link', { name: 'Permissions' }).click()
  await page.getByRole('heading', { name: 'Acme' }).waitFor()
  const text = await page.locator('main').innerText()
  for (const part of ['Borough Water', 'Up to £50.00', 'Valid until', 'Payments so far']) t.match(text, part)
  await isGood(t, watched, 'hub-permissions')

  await page.getByRole('link', { name: 'Cancel permission for Acme' }).click()
  await page.getByText('After this, Acme can take no further payments with it.').waitFor()
  t.match(page.url(), `#cancel=${ofAcme}`)
  await isGood(t, watched, 'hub-cancel')
  await page.getByRole('link', { name: 'No, keep it' }).click()
  await page.getByRole('heading', { name: 'Acme' }).waitFor()
  await page.getByRole('link', { name: 'Cancel permission for Acme' }).click()
  await page.getByRole('button', { name: 'Yes, cancel it' }).click()
  await page.getByText('Your permission for Acme is cancelled.').first().waitFor()
  t.equal(await page.evaluate('document.activeElement.tagName'), 'H1')
  t.match(await page.locator('#live').textContent(), 'Your permission for Acme is cancelled.', 'and is read out')
  t.equal(await page.getByRole('heading', { name: 'Acme' }).count(), 0)
  t.equal(await page.getByRole('heading', { name: 'Borough Water' }).count(), 1, 'the other one stands')
  await isGood(t, watched, 'hub-cancelled', false)

  const { body } = await service.call('GET', `/api/v1/portal/consents/${ofAcme}`, { merchant: acme })
  t.equal(body.status, 'REVOKED')
  await goTo(page, `#cancel=${ofAcme}`)
  await page.getByText('This permission is no longer active.').waitFor()
  t.same(watched.complaints, [])
})

t.test('an ended permission or an unavailable service is reported, without promises', async (t) => {
  const id = await mandate(acme)
  const { page } = await signedIn(service, browser)
  await goTo(page, `#cancel=${id}`)
  await page.getByRole('button', { name: 'Yes, cancel it' }).waitFor()
  await page.route(`**/payer/consents/${id}`, (route) => route.abort())
  await page.getByRole('button', { name: 'Yes, cancel it' }).click()
  await page.getByRole('alert').filter({ hasText: 'We can’t reach the service' }).waitFor()
  await page.unroute(`**/payer/consents/${id}`)
  await page.route(`**/payer/consents/${id}`, (route) =>
    route.fulfill({ status: 409, json: { code: 'CONSENT_NOT_REVOCABLE', error: 'ended' } }),
  )
  await page.getByRole('button', { name: 'Yes, cancel it' }).click()
  await page.getByText('This permission is no longer active.').waitFor()
  const { body } = await service.call('GET', `/api/v1/portal/consents/${id}`, { merchant: acme })
  t.equal(body.status, 'AUTHORISED')
})

t.test('allowances are shown by period with the rest, and unenforced limits as such', async (t) => {
  const { page } = await signedIn(service, browser)
  const consent = {
    consent_id: ofAcme,
    status: 'AUTHORISED',
    merchant_name: 'Acme',
    currency: 'GBP',
    max_amount_per_payment: '50.00',
    allowances: [
      {
        period: 'MONTH',
        max_amount: '100.00',
        used_amount: '12.50',
        remaining_amount: '87.50',
        resets_at: '2027-01-01T00:00:00.000Z',
      },
      {
        period: 'Decade',
        max_amount: '9.00',
        used_amount: '0.00',
        remaining_amount: '9.00',
        resets_at: '2036-01-01T00:00:00.000Z',
      },
    ],
    caps_enforced: true,
    remittance_reference: null,
    bank_name: null,
    payment_count: 1,
    last_payment_at: null,
    valid_to: '2027-11-21T00:00:00.000Z',
    created_at: '2026-11-21T00:00:00.000Z',
  }
  await page.route('**/payer/consents', (route) =>
    route.fulfill({ json: { data: [consent, { ...consent, allowances: [], caps_enforced: false }] } }),
  )
  await goTo(page, '#permissions')
  await page.getByText('£87.50 left of £100.00').waitFor()
  const text = await page.locator('main').innerText()
  t.match(text, 'Each month')
  t.match(text, 'For each decade')
  t.equal(text.match(/They are not checked here/g)?.length, 1)
})
